// A run loop for threads whose schedule is being explored: sources and a traced condition instead of Core Foundation's
// file descriptors, of which no schedule could be chosen.
//
// `lock` guards `sources` and `isStopped`; handlers run without it, on the loop's thread.
import CPlatform

final class ExploredLoop: @unchecked Sendable {
    final class Source: @unchecked Sendable {
        var isSignalled = false
        var isValid = true
        var handler: (() -> Void)?

        init(_ handler: @escaping () -> Void) { self.handler = handler }
    }

    private let lock = TracedMutex("explored run loop")
    private let changed: TracedCondition
    private var sources: [Source] = []
    private var isStopped = false

    init() { changed = TracedCondition("explored run loop", lock) }

    /// The loop of the calling thread, where it has one: only between `run` and its end.
    static var ofThisThread: ExploredLoop? {
        guard Tracing.isExploring, let control = ScheduleControl.ofThisThread else { return nil }
        return control.loopOfThisThread
    }

    func add(_ handler: @escaping () -> Void) -> Source {
        let source = Source(handler)
        lock.withLock { sources.append(source) }
        return source
    }

    func signal(_ source: Source) {
        lock.withLock {
            source.isSignalled = true
            changed.broadcast()
        }
    }

    func remove(_ source: Source) {
        lock.withLock {
            source.isValid = false
            sources.removeAll { $0 === source }
        }
    }

    func stop() {
        lock.withLock {
            isStopped = true
            changed.broadcast()
        }
    }

    /// Calls handlers as they are signalled, until `stop()`.
    func run() {
        while true {
            let ready: [Source]? = lock.withLock {
                while !isStopped, !sources.contains(where: \.isSignalled) { changed.wait() }
                let signalled = sources.filter(\.isSignalled)
                if signalled.isEmpty { return nil }
                for source in signalled { source.isSignalled = false }
                return signalled
            }
            guard let ready else { return }
            for source in ready {
                let isValid = lock.withLock { source.isValid }
                if isValid { source.handler?() }
            }
        }
    }
}
