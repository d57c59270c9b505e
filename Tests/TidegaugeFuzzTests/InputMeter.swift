// CPU time and memory of single inputs, and their limits.
import Foundation
import Synchronization

/// Measures inputs of one target. Belongs to the thread that creates it.
struct InputMeter {
    private static let mostCPUNs: Int64 = 10_000_000_000
    private static let mostBytes = 1 << 30

    private let title: String
    private let path: String
    private let checksMemory: Bool
    private let watch: Watch
    /// CPU time of the input that took most, on this thread.
    private(set) var slowestNs: Int64 = 0
    /// Largest resident memory of the process since the meter was created.
    private(set) var largestBytes = 0

    /// - Parameters:
    ///   - path: file that holds the current input.
    ///   - checksMemory: whether the limit of memory applies. It counts the whole process.
    init(_ title: String, _ path: String, checksMemory: Bool) {
        (self.title, self.path, self.checksMemory) = (title, path, checksMemory)
        // Lowers the peak that the kernel keeps to what is resident now.
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        watch = Watch(checksMemory ? Self.mostBytes : .max)
        watch.begin(title, path)
    }

    mutating func measure(_ body: () throws -> String) rethrows -> String {
        let beganNs = Self.cpuNs(CLOCK_THREAD_CPUTIME_ID) ?? 0
        watch.beganNs.store(beganNs, ordering: .relaxed)
        defer { watch.beganNs.store(.max, ordering: .relaxed) }
        let outcome = try body()
        slowestNs = max(slowestNs, (Self.cpuNs(CLOCK_THREAD_CPUTIME_ID) ?? 0) - beganNs)
        largestBytes = max(largestBytes, Self.peakBytes())
        return outcome
    }

    /// Text about the limit that an input exceeded, with the file that holds the last input, or nil.
    var excess: String? {
        if slowestNs > Self.mostCPUNs { return "\(title): \(path) took \(slowestNs / 1_000_000) ms of CPU" }
        if checksMemory, largestBytes > Self.mostBytes {
            return "\(title): \(largestBytes >> 20) MiB were resident after \(path)"
        }
        return nil
    }

    /// Stops watching. To be called once.
    func end() { watch.isEnded.store(true, ordering: .relaxed) }

    /// Nil if the thread has ended.
    private static func cpuNs(_ clock: clockid_t) -> Int64? {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return nil }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func peakBytes() -> Int {
        var usage = rusage()
        getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss << 10
    }

    /// Ends the process while an input exceeds twice a limit, because such an input may never return.
    private final class Watch: Sendable {
        /// CPU time of the thread when the current input began. `Int64.max` between inputs.
        let beganNs = Atomic<Int64>(.max)
        let isEnded = Atomic(false)
        private let clock: clockid_t
        private let mostBytes: Int

        init(_ mostBytes: Int) {
            self.mostBytes = mostBytes
            var clock = clockid_t()
            pthread_getcpuclockid(pthread_self(), &clock)
            self.clock = clock
        }

        func begin(_ title: String, _ path: String) {
            Thread.detachNewThread { [self] in
                while !isEnded.load(ordering: .relaxed) {
                    usleep(100_000)
                    let began = beganNs.load(ordering: .relaxed)
                    guard began != .max, let ns = InputMeter.cpuNs(clock),
                        beganNs.load(ordering: .relaxed) == began
                    else { continue }
                    // Longer than the limit, because an input that returns fails its target alone.
                    if ns - began > 2 * mostCPUNs {
                        fatalError("\(title): \(path) has not returned for \(ns - began) ns of CPU")
                    }
                    if InputMeter.peakBytes() / 2 > mostBytes {
                        fatalError("\(title): \(InputMeter.peakBytes() >> 20) MiB are resident in \(path)")
                    }
                }
            }
        }
    }
}
