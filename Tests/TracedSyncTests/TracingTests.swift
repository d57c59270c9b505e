import CPlatform
import Testing
import TracedSync

/// Keeps the events of resources by name, in order of arrival. Guarded by its own pthread-free spin: tests only.
private final class Recorder: TracedSink, @unchecked Sendable {
    private let lock = NSLockFree()
    private var events: [(TracedEvent, String)] = []

    func record(_ event: TracedEvent, _ resource: TracedResource) {
        lock.with { events.append((event, resource.name)) }
    }

    func events(of name: String) -> [TracedEvent] { lock.with { events.filter { $0.1 == name }.map(\.0) } }
}

/// A lock that is not traced, so that the sink does not report itself.
private final class NSLockFree: @unchecked Sendable {
    private let word = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    init() { word.initialize(to: 0) }
    deinit { word.deallocate() }
    func with<R>(_ body: () -> R) -> R {
        while !cp_exchange_if_equal64(word, 0, 1) {}
        defer { cp_store64(word, 0) }
        return body()
    }
}

@Suite("Tracing", .serialized)
struct TracingTests {
    @Test("a mutex, a condition and a thread report waits, holds and releases")
    func events() {
        let recorder = Recorder()
        Tracing.start(recorder)
        defer { Tracing.stop() }
        let mutex = TracedMutex("traced mutex")
        let condition = TracedCondition("traced condition", mutex)
        mutex.withLock { _ = condition.wait(untilNs: 1) }
        let thread = TracedThread("traced thread") {}
        thread.join()
        #expect(recorder.events(of: "traced mutex") == [.willWait, .acquired, .released, .acquired, .released])
        #expect(recorder.events(of: "traced condition") == [.willWait, .gaveUp, .released])
        #expect(recorder.events(of: "traced thread").contains(.acquired))
    }

    @Test("nothing is reported while tracing is off")
    func off() {
        let recorder = Recorder()
        Tracing.start(recorder)
        Tracing.stop()
        TracedMutex("untraced").withLock {}
        #expect(recorder.events(of: "untraced").isEmpty)
    }
}
