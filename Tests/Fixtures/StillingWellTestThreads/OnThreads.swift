// Threads for tests that block: for a child process, a time window or a notification. The concurrency pool has as many
// threads as the machine has cores, and each blocking test would occupy one of them.
import Foundation
import Testing

extension Trait where Self == OnThreads {
    /// Runs the tests on four threads for such tests, instead of the concurrency pool.
    public static var onThreads: Self { OnThreads() }
}

public struct OnThreads: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(WaitingThreads.shared) { try await body() }
    }
}

/// A few threads that take jobs in the order in which they came.
private final class WaitingThreads: TaskExecutor, @unchecked Sendable {
    static let shared = WaitingThreads(count: 4)

    // `@unchecked` because of `jobs`, which `condition` guards.
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []

    private init(count: Int) {
        for number in 1...count {
            let thread = Thread { self.run() }
            thread.name = "test-\(number)"
            // The size of a main thread's stack, because tests recurse into deep filters and chains.
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock { jobs.append(job) }
        condition.signal()
    }

    private func run() {
        while true {
            let job = condition.withLock {
                while jobs.isEmpty { condition.wait() }
                return jobs.removeFirst()
            }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
