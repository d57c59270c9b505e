// Rule 7 in callbacks. Membership and properties in one callback are those of the delivered version, even if earlier
// callbacks of the same delivery have written.
import Foundation
import StillingWellSync
import Testing

@testable import StillingWell

@Suite("Rule 7: a callback sees one version")
struct Rule07CallbackTests {
    @Test("a write in one callback is not seen by the next of the same delivery, and shows after it")
    func writeBetweenCallbacks() throws {
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        let others = notes.where(\.score == 0)
        let unobserved = notes.where(\.score >= 0)
        var initials = 0
        var seen: [[[Int]]] = []
        var found: [Bool] = []
        let tokens = [
            try notes.observe { change in
                guard case .update = change, notes.count == 1 else { return }
                do { try connection.write { try connection.add(Note(id: 2)) } } catch { Issue.record(error) }
                #expect(notes.map(\.id) == [1, 2])
            },
            try notes.observe { change in
                guard case .update = change else { return initials += 1 }
                seen.append([notes, others, unobserved].map { $0.map(\.id) })
                do { found.append(try connection.object(Note.self, forPrimaryKey: 2) != nil) } catch {
                    Issue.record(error)
                }
            },
            try others.observe { if case .initial = $0 { initials += 1 } },
        ]
        try scheduler.turn { initials == 2 }
        try test.store.write { try $0.add(Note(id: 1)) }
        try scheduler.turn { !seen.isEmpty }
        #expect(seen == [[[1], [1], [1]]])
        #expect(found == [false])
        // After the callbacks the write shows, without a delivery.
        #expect([notes, others, unobserved].map { $0.map(\.id) } == [[1, 2], [1, 2], [1, 2]])
        try scheduler.turn { seen.count == 2 }
        #expect(seen[1] == [[1, 2], [1, 2], [1, 2]])
        for token in tokens { token.invalidate() }
    }

    @Test("a write block in a callback starts from the rows its callback saw")
    func indicesInWrite() throws {
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self).sorted(by: \.score)
        var initials = 0
        var inside: [Int] = []
        var after: [Int] = []
        let tokens = [
            try notes.observe { change in
                guard case .update = change, notes.count == 1 else { return initials += 1 }
                do { try connection.write { try connection.add(Note(id: 0, score: -5)) } } catch { Issue.record(error) }
            },
            try notes.observe { change in
                guard case .update = change, notes.count == 1 else { return initials += 1 }
                do {
                    try connection.write {
                        inside = notes.map(\.id)
                        notes[0].score = 7
                    }
                } catch { Issue.record(error) }
                after = notes.map(\.id)
            },
        ]
        try scheduler.turn { initials == 2 }
        try test.store.write { try $0.add(Note(id: 1)) }
        try scheduler.turn { !after.isEmpty }
        #expect(inside == [1])
        #expect(after == [0, 1])
        #expect(try connection.object(Note.self, forPrimaryKey: 1)?.score == 7)
        for token in tokens { token.invalidate() }
    }

    @Test("a root sent before the last observer ended is not shown forever")
    func lateRoot() throws {
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        var isReady = false
        let token = try notes.observe { _ in isReady = true }
        try scheduler.turn { isReady }
        let attachment = notes.query.attachment
        token.invalidate()
        // A root that upkeep sends before it knows that the query has no observer any more.
        let snapshot = try test.store.core.storage.openSnapshot()
        let late = RootUpdate(query: notes.query, attachment: attachment, tree: RankedTree())
        var mail = VersionMail(updates: [late])
        try connection.live().mailbox.put(snapshot, &mail)
        try scheduler.turn()
        try connection.write { try connection.add(Note(id: 1)) }
        try scheduler.turn { connection.version == 1 }
        #expect(notes.map(\.id) == [1])
        // The root is not taken for that of a new observer. (It is put there before the observer starts. Upkeep sends
        // roots in order, so an older root never follows a newer one.)
        mail = VersionMail(updates: [late])
        try connection.live().mailbox.put(try test.store.core.storage.openSnapshot(), &mail)
        var initial: [Int]?
        let next = try notes.observe { _ in initial = notes.map(\.id) }
        try scheduler.turn { initial != nil }
        #expect(initial == [1])
        next.invalidate()
    }

    @Test("a connection does not go back to a version before the one it was opened at")
    func neverBack() throws {
        let test = try TestStore()
        let old = try test.store.core.storage.openSnapshot()
        try test.store.write { try $0.add(Note(id: 1)) }
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        // Mail of an upkeep that has not processed the newest commit yet.
        var mail = VersionMail()
        try connection.live().mailbox.put(old, &mail)
        try scheduler.turn()
        #expect(connection.version == 1)
    }

    @Test(
        "a list's index names the element shown, though another connection removed one; that one can be removed too"
    )
    func listIndices() throws {
        let test = try TestStore([Human.self, Dog.self])
        try test.store.write { connection in
            let ada = Human(1)
            ada.tags = ["a", "b", "c"]
            try connection.add(ada)
        }
        let feed = try Feed(test.store)
        let tags = try #require(try feed.connection.object(Human.self, forPrimaryKey: 1)).tags
        try feed.observe("tags", tags)
        try test.store.write { try #require(try $0.object(Human.self, forPrimaryKey: 1)).tags.remove(at: 0) }
        try feed.connection.write {
            #expect(Array(tags) == ["a", "b", "c"])
            // Already deleted by another connection. It is still shown here, so it can be removed.
            tags.remove(at: 0)
            #expect(Array(tags) == ["b", "c"])
            tags[0] = "B"
        }
        #expect(Array(tags) == ["B", "c"])
        try feed.catchUp()
        #expect(Array(tags) == ["B", "c"])
    }
}
