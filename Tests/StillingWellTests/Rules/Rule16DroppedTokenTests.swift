// Rule 16. A token that is not kept. Realm logs that a token was dropped, but not which one.
import Foundation
import StillingWell
import StillingWellSync
import Testing

@Suite("Rule 16: a dropped token ends its subscription, and the log names where an uncalled one was made")
struct Rule16DroppedTokenTests {
    @Test("a token that is dropped stops")
    func dropped() throws {
        let test = try TestStore()
        let thread = RunLoopThread("dropping")
        defer { thread.stop() }
        let calls = Watched(0)
        nonisolated(unsafe) var notes: Results<Note>!
        nonisolated(unsafe) var token: NotificationToken?
        try thread.performAndWait {
            notes = try test.store.connect(on: .runLoop).objects(Note.self)
            token = try notes.observe { _ in calls.update { $0 += 1 } }
        }
        try calls.wait("initial") { $0 == 1 }
        try thread.performAndWait { token = nil }
        try test.store.write { try $0.add(Note(id: 1)) }
        let witness = Watched(0)
        try thread.performAndWait { token = try notes.observe { _ in witness.update { $0 += 1 } } }
        try witness.wait("a delivery") { $0 == 1 }
        #expect(calls.value == 1)
        try thread.performAndWait {
            token?.invalidate()
            notes = nil
        }
    }

    @Test(
        "each kind of token that is dropped uncalled is logged once, with its place; one that was called or invalidated is not"
    )
    func logged() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = try FixtureProcess(path: path, .relaxed, ["drop"])
        try process.waitForEnd()
        let lines = process.output.value.lines
        let warnings = lines.filter { $0.contains("dropped without invalidate()") }
        let places = lines.compactMap { $0.hasPrefix("dropping ") ? String($0.dropFirst("dropping ".count)) : nil }
        #expect(places.count == 4 && warnings.count == 4, "\(lines)")
        for place in places { #expect(warnings.filter { $0.contains("made at \(place) ") }.count == 1, "\(warnings)") }
        #expect(warnings.allSatisfy { $0.contains("keep the token") })
        // The kept token was called for the commit, and no other one after it.
        #expect(lines.last == "told kept")
    }

    @Test(
        "a token may be dropped on another thread, in its own callback, and after its store was closed")
    func anywhere() throws {
        let test = try TestStore()
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self)
        var calls = 0
        var initials = 0
        nonisolated(unsafe) var elsewhere: NotificationToken? = try notes.observe { change in
            if case .initial = change { initials += 1 } else { calls += 1 }
        }
        var inside: NotificationToken?
        inside = try notes.observe { change in
            if case .initial = change { initials += 1 }
            inside = nil
        }
        try feed.scheduler.turn { initials == 2 }
        #expect(inside == nil)
        TracedThread("elsewhere") { elsewhere = nil }.join()
        #expect(elsewhere == nil)
        try feed.observe("kept", notes)
        try test.store.write { try $0.add(Note(id: 1)) }
        try feed.catchUp()
        #expect(calls == 0 && feed.takeLog() == ["kept +0"])
        var late: NotificationToken? = try notes.observe { _ in calls += 1 }
        test.store.close()
        late = nil
        #expect(late == nil && calls == 0)
    }
}
