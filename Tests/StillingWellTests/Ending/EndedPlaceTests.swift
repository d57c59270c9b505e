import Foundation
import StillingWellFixtures
import StillingWellSync
import StillingWellTestThreads
import Testing

@testable import StillingWell

private final class Remains: @unchecked Sendable {
    weak var connection: Connection?
    var token: NotificationToken?
}

private actor Guest {
    func observe(_ store: Store, _ remains: Remains) throws {
        let notes = try store.connect(on: .actor(self)).objects(Note.self)
        remains.connection = notes.connection
        remains.token = try notes.observe { [notes] _ in _ = notes.count }
    }
}

@Suite("Delivery contexts that end before their observers", .serialized, .onThreads)
struct EndedPlaceTests {
    private let test: TestStore

    init() throws { test = try TestStore() }

    private func wait(_ what: Comment, _ isDone: () -> Bool) throws {
        let deadline = DispatchTime.now().uptimeNanoseconds + 300_000_000_000
        while !isDone() {
            try #require(DispatchTime.now().uptimeNanoseconds < deadline, what)
            sched_yield()
        }
    }

    private func expectNothingLeft(_ remains: Remains) throws {
        try wait("the connection to be released") { remains.connection == nil }
        for id in 0..<3 { try test.store.write { try $0.add(Note(id: id)) } }
        try wait("its version to be released") { test.store.oldestPin == nil }
    }

    @Test("a thread: its connection holds no version, and goes with the token", arguments: [true, false])
    func thread(_ invalidates: Bool) throws {
        let store = test.store
        let remains = Remains()
        TracedThread("short-lived") {
            do {
                let notes = try store.connect(on: .runLoop).objects(Note.self)
                remains.connection = notes.connection
                var isReady = false
                remains.token = try notes.observe { [notes] _ in isReady = notes.isEmpty }
                while !isReady { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
            } catch { Issue.record(error) }
        }.join()
        // The token is still held.
        for id in 10..<13 { try store.write { try $0.add(Note(id: id)) } }
        try wait("the version to be released") { store.oldestPin == nil }
        if invalidates { remains.token?.invalidate() }
        remains.token = nil
        try expectNothingLeft(remains)
    }

    @Test("a thread: loops over changes end with it")
    func sequence() async throws {
        let store = test.store
        let made = Watched<LiveChanges<ResultsUpdate<Note>>?>(nil)
        let thread = RunLoopThread("short-lived")
        try thread.performAndWait {
            let changes = try store.connect(on: .runLoop).objects(Note.self).changes()
            made.update { $0 = changes }
        }
        let changes = try #require(made.value)
        made.update { $0 = nil }
        var iterator = changes.makeAsyncIterator()
        #expect(try await iterator.next()?.count == 0)
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                thread.stop()
                done.resume()
            }
        }
        #expect(try await iterator.next() == nil)
    }

    @Test("an actor: its connection goes with the token", arguments: [true, false])
    func actor(_ invalidates: Bool) async throws {
        let remains = Remains()
        try await Guest().observe(test.store, remains)
        if invalidates { remains.token?.invalidate() }
        remains.token = nil
        try expectNothingLeft(remains)
    }

    /// `TIDEGAUGE_ENDINGS` sets the number of endings.
    @Test("in every state, with and without observers: descriptors, versions and the write lock are as before")
    func everyState() throws {
        let count = ProcessInfo.processInfo.environment["TIDEGAUGE_ENDINGS"] ?? "240"
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = try FixtureProcess(path: path, .relaxed, ["endings", count])
        try process.output.wait("the end", atMostS: 3_000) { $0.isOver }
        #expect(process.lines == ["nothing left", "0 batches of cancelled writes"], "\(process.lines)")
    }
}
