// Rule 11. Observers that start and end during callbacks, and tokens that are invalidated on other threads.
import StillingWellSeededRandom
import StillingWellSync
import Testing

@testable import StillingWell

@Suite("Rule 11: observers added and removed in callbacks, and invalidated from any thread")
struct Rule11TokenTests {
    /// Callback in which an observer is added.
    enum Place: String, CaseIterable { case store, first, second, initial }

    @Test("a token that is added in a callback is called from the next delivery on", arguments: Place.allCases)
    func addedInside(_ place: Place) throws {
        let test = try TestStore()
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self)
        let others = notes.where(\.score >= 0)
        var delivery = 0
        var added: [(delivery: Int, what: String)] = []
        var addedIn = 0
        func add() {
            guard addedIn == 0 else { return }
            addedIn = delivery
            for (name, results) in [("same", notes), ("other", others), ("new", notes.where(\.score > -5))] {
                do {
                    feed.keep(try results.observe { added.append((delivery, "\(name) \($0.text.prefix(7))")) })
                } catch { Issue.record(error) }
            }
            do {
                feed.keep(try feed.connection.observe { what, _ in added.append((delivery, "store \(what)")) })
            } catch { Issue.record(error) }
        }
        try feed.observe("others", others)
        var isReady = false
        if place == .initial {
            feed.keep(try notes.observe { if case .initial = $0 { add() } })
            feed.keep(try others.observe { if case .initial = $0 { isReady = true } })
            try feed.scheduler.turn { isReady }
        } else {
            try feed.observe("notes", notes)
            if place == .store { feed.keep(try feed.connection.observe { _, _ in add() }) }
            if place == .first { feed.keep(try notes.observe { if case .update = $0 { add() } }) }
            if place == .second { feed.keep(try others.observe { if case .update = $0 { add() } }) }
            feed.keep(try notes.observe { if case .initial = $0 { isReady = true } })
            try feed.scheduler.turn { isReady }
            delivery = 1
            try test.store.write { try $0.add(Note(id: 1)) }
            try feed.catchUp()
            #expect(addedIn == 1)
        }
        #expect(added.filter { $0.delivery == addedIn && $0.delivery > 0 }.isEmpty, "\(added)")
        delivery = 2
        try feed.scheduler.turn { added.filter { $0.what.hasSuffix("initial") }.count == 3 }
        #expect(added.allSatisfy { $0.what.hasSuffix("initial") }, "\(added)")
        delivery = 3
        try test.store.write { try $0.add(Note(id: 2)) }
        try feed.catchUp()
        #expect(
            Set(added.filter { $0.delivery == 3 }.map(\.what)) == ["same +1", "other +1", "new +1", "store didChange"]
                || Set(added.filter { $0.delivery == 3 }.map(\.what)) == [
                    "same +0", "other +0", "new +0", "store didChange",
                ])
    }

    @Test("a token removed in a callback is not called in the same delivery; removing the current one skips none")
    func removedInside() throws {
        let test = try TestStore()
        try test.store.write { try $0.add(Note(id: 0)) }
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self)
        let note = try #require(try feed.connection.object(Note.self, forPrimaryKey: 0))
        var calls: [String] = []
        var removed: [NotificationToken] = []
        var current: NotificationToken?
        var initials = 0
        let names = ["a", "current", "b", "removed", "c"]
        for name in names {
            let token = try notes.observe { change in
                if case .initial = change { return initials += 1 }
                calls.append(name)
                if name == "current" {
                    current?.invalidate()
                    for token in removed { token.invalidate() }
                }
            }
            feed.keep(token)
            if name == "current" { current = token }
            if name == "removed" { removed.append(token) }
        }
        let elsewhere = try notes.where(\.score >= 0).observe { change in
            if case .initial = change { initials += 1 } else { calls.append("elsewhere") }
        }
        removed.append(feed.keep(elsewhere))
        removed.append(feed.keep(try note.observe { _ in calls.append("object") }))
        try feed.scheduler.turn { initials == 6 }
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 0)).score = 1 }
        try feed.catchUp()
        #expect(calls.filter { $0 != "elsewhere" } == ["a", "current", "b", "c"])
        calls = []
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 0)).score = 2 }
        try feed.catchUp()
        #expect(calls == ["a", "b", "c"])
    }

    @Test("invalidate does not wait for the callback that runs, and none starts after it has returned")
    func whileRunning() throws {
        let test = try TestStore()
        let thread = RunLoopThread("slow callback")
        defer { thread.stop() }
        let state = Watched((isRunning: false, mayEnd: false, calls: 0))
        nonisolated(unsafe) var token: NotificationToken?
        nonisolated(unsafe) var notes: Results<Note>?
        try thread.performAndWait {
            notes = try test.store.connect(on: .runLoop).objects(Note.self)
            token = try notes?.observe { _ in
                state.update {
                    $0.calls += 1
                    $0.isRunning = true
                }
                _ = try? state.wait("the end") { $0.mayEnd }
                state.update { $0.isRunning = false }
            }
        }
        try state.wait("the initial callback to run") { $0.isRunning }
        token?.invalidate()
        #expect(state.value.isRunning && !state.value.mayEnd, "invalidate has waited")
        try test.store.write { try $0.add(Note(id: 1)) }
        state.update { $0.mayEnd = true }
        let witness = Watched(0)
        try thread.performAndWait { token = try notes?.observe { _ in witness.update { $0 += 1 } } }
        try witness.wait("a delivery to somebody else") { $0 == 1 }
        #expect(state.value.calls == 1)
        try thread.performAndWait {
            token?.invalidate()
            notes = nil
        }
    }

    @Test("at whatever instant another thread invalidates: nothing starts once it has returned", arguments: 0..<4)
    func race(_ round: Int) throws {
        let test = try TestStore(durability: .memory)
        let thread = RunLoopThread("raced")
        defer { thread.stop() }
        nonisolated(unsafe) var notes: Results<Note>?
        try thread.performAndWait { notes = try test.store.connect(on: .runLoop).objects(Note.self) }
        try test.store.write { try $0.add(Note(id: 1)) }
        // Commits go on while tokens end, 20 per token, so that they do not end before the tokens.
        let credit = Watched(0)
        // For each token: the number of callbacks after its end, and whether one was running when `invalidate`
        // returned. Such a callback began before, and may have been delayed by the scheduler.
        var ended: [(late: Watched<Int>, wasRunning: Bool)] = []
        let writer = TracedThread("writer") {
            do {
                for count in 0..<2_000 {
                    try credit.wait("a round") { $0 > count }
                    try test.store.write { try $0.object(Note.self, forPrimaryKey: 1)?.score = count }
                }
            } catch { Issue.record(error) }
        }
        var random = SeededRandom(seed: SeededRandom.base &+ UInt64(round))
        for _ in 0..<100 {
            // 1: called at least once. 2: `invalidate` has returned.
            let state = Watched(0)
            let late = Watched(0)
            nonisolated(unsafe) var token: NotificationToken?
            credit.update { $0 += 20 }
            try thread.performAndWait {
                token = try notes?.observe { _ in
                    state.update { state in
                        if state == 2 { late.update { $0 += 1 } } else { state = 1 }
                    }
                }
            }
            try state.wait("a callback") { $0 > 0 }
            for _ in 0..<random.below(2_000) { _ = random.next() }
            token?.invalidate()
            ended.append((late, token?.state.isRunning == true))
            state.update { $0 = 2 }
        }
        writer.join()
        try thread.performAndWait { notes = nil }
        for (late, wasRunning) in ended { #expect(late.value <= (wasRunning ? 1 : 0)) }
    }
}
