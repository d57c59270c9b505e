import Foundation
import StillingWellSync
import Testing

@testable import StillingWell

@Suite("How connections end")
struct ConnectionEndTests {
    @Test("a closed store delivers nothing more and refuses work")
    func closed() throws {
        let test = try TestStore()
        let observer = try Observer(test.store)
        defer { observer.stop() }
        try observer.observe()
        try observer.told.wait("initial") { $0.count == 1 }
        try observer.thread.performAndWait { test.store.close() }
        #expect(throws: StoreError.closed) { try test.store.write { try $0.add(Note(id: 1)) } }
        #expect(throws: StoreError.closed) { try test.store.connect(on: .runLoop) }
        #expect(observer.told.value.count == 1)
    }

    @Test("nothing is delivered after the store has been closed, not even pending changes")
    func closedWithMail() throws {
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        var calls: [String] = []
        let tokens = [
            try notes.observe { _ in
                calls.append("first")
                if notes.count == 1 { test.store.close() }
            },
            try notes.observe { _ in calls.append("second") },
        ]
        try scheduler.turn { calls.count == 2 }
        try test.store.write { try $0.add(Note(id: 1)) }
        try scheduler.turn()
        #expect(calls == ["first", "second", "first"])
        for token in tokens { token.invalidate() }
    }

    /// A weak reference that crosses threads.
    private final class Weak: @unchecked Sendable { weak var connection: Connection? }

    @Test("a connection is released although its run loop never runs again")
    func runLoopGone() throws {
        let test = try TestStore()
        let weak = Weak()
        let thread = TracedThread("short-lived") {
            do {
                let notes = try test.store.connect(on: .runLoop).objects(Note.self)
                weak.connection = notes.connection
                var isReady = false
                let token = try notes.observe { [notes] _ in isReady = notes.isEmpty }
                while !isReady { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
                token.invalidate()
            } catch { Issue.record(error) }
        }
        thread.join()
        #expect(weak.connection == nil)
    }
}
