// Rule 18. Active versions, the oldest pin, and the limits of versions and of the map. (While a version is held,
// Realm's file grows without bound, and nothing shows which object or process holds it.)
import Foundation
import StillingWellFixtures
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Rule 18: old versions are listed, bounded and released", .serialized, .onThreads)
struct Rule18VersionsTests {
    /// - Parameter pollNs: poll interval of upkeep in ns, or nil for no polling.
    private func makeStore(notes: Int, pollNs: Int64? = Upkeep.pollNs) throws -> TestStore {
        let test = try TestStore(upkeepPollNs: pollNs, flushes: .off)
        try test.store.write { connection in for id in 0..<notes { try connection.add(Note(id: id)) } }
        return test
    }

    private func change(_ test: TestStore, times: Int) throws {
        for round in 0..<times {
            try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: round % 100)).score = round }
        }
    }

    @Test("an unused connection does not keep old versions")
    func idleConnections() throws {
        let test = try makeStore(notes: 100)
        let schedulers = (0..<3).map { _ in ManualScheduler() }
        let connections = try schedulers.map { try test.store.connect(on: .scheduler($0)) }
        try change(test, times: 300)
        for (connection, scheduler) in zip(connections, schedulers) {
            try scheduler.turn { connection.version > 1 }
        }
        // The version of the opening is held no more.
        #expect((test.store.oldestPin?.version ?? .max) > 1)
        withExtendedLifetime(connections) {}
    }

    @Test(
        "a connection without relevant commits is advanced by the clock; without a clock, not after so few commits",
        arguments: [0, nil] as [Int64?])
    func lagging(_ pollNs: Int64?) throws {
        let test = try TestStore(upkeepPollNs: pollNs)
        let (idle, busy) = (ManualScheduler(), ManualScheduler())
        let unconcerned = try test.store.connect(on: .scheduler(idle))
        let connection = try test.store.connect(on: .scheduler(busy))
        let token = try connection.objects(Note.self).observe { _ in }
        let first = unconcerned.version
        // A delivery shows that upkeep has ended the previous step.
        for id in 0..<10 {
            try test.store.write { try $0.add(Note(id: id)) }
            let newest = try test.store.read { $0.version }
            try busy.turn { connection.version >= newest }
        }
        idle.turnNow()
        #expect(unconcerned.version > first ? pollNs == 0 : pollNs == nil)
        token.invalidate()
    }

    /// Returns a connection without observers, after so many commits that it holds no version any more.
    private func sleeper(_ test: TestStore) throws -> (LiveConnection, ManualScheduler) {
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler)).live()
        try putToSleep(connection, scheduler, test)
        return (connection, scheduler)
    }

    private func putToSleep(_ connection: LiveConnection, _ scheduler: ManualScheduler, _ test: TestStore) throws {
        // The number of commits depends on which of them upkeep processes.
        try repeating(atMost: 10_000, until: { connection.isAsleep }) {
            try change(test, times: 100)
            scheduler.turnNow()
        }
        try #require(connection.isAsleep)
    }

    @Test("without observers neither a connection that is not used nor upkeep holds a version")
    func sleeping() throws {
        let test = try makeStore(notes: 100, pollNs: nil)
        let (connection, scheduler) = try sleeper(test)
        // Upkeep holds a version while there is an observer.
        var told = 0
        let token = try connection.observe { _, _ in told += 1 }
        try change(test, times: 1)
        try scheduler.turn { told == 1 }
        token.invalidate()
        try putToSleep(connection, scheduler, test)
        try change(test, times: 10)
        // The upkeep thread releases its own version after it has handled its messages.
        repeating(atMost: 60_000, until: { test.store.oldestPin == nil }) { usleep(1_000) }
        #expect(test.store.oldestPin == nil && test.store.activeVersions == 1)
        // From its next use on, the connection and its objects stay at one version again.
        let note = try #require(try connection.object(Note.self, forPrimaryKey: 3))
        let version = connection.version
        #expect(version == (try test.store.read { $0.version }) && note.score == 3)
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 3)).score = 1_000 }
        #expect(connection.version == version && note.score == 3)
        try connection.refresh()
        #expect(note.score == 1_000)
        withExtendedLifetime(scheduler) {}
    }

    @Test("a connection that holds no version can be observed, written by and refreshed like any other")
    func usedAsleep() throws {
        let test = try makeStore(notes: 100)
        let (observed, scheduler) = try sleeper(test)
        var told = 0
        let token = try observed.observe { _, _ in told += 1 }
        // From here on, commits are news for the observer.
        #expect(!observed.isAsleep)
        try change(test, times: 1)
        try scheduler.turn { told == 1 }
        token.invalidate()

        let (writing, _) = try sleeper(test)
        let notes = try writing.objects(Note.self).where(\.score >= 5_000)
        try writing.write { try #require(try $0.object(Note.self, forPrimaryKey: 5)).score = 5_000 }
        // A later commit of another connection, which must not be mixed with the rows shown.
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 6)).score = 6_000 }
        #expect(notes.map(\.id) == [5] && notes.map(\.score) == [5_000])

        let (refreshed, _) = try sleeper(test)
        try change(test, times: 1)
        #expect(try refreshed.refresh())
        #expect(refreshed.version == (try test.store.read { $0.version }))
    }

    /// Commits until upkeep stops waking for commits. It may have checked before the connection released its version,
    /// and checks again at every 64th commit.
    private func waitUntilNobodyHears(_ test: TestStore) throws {
        let upkeep = try #require(test.store.core.runningUpkeep)
        var isHearing: Bool { upkeep.hearsCommits.load(ordering: .sequentiallyConsistent) }
        try repeating(atMost: 10_000, until: { !isHearing }) {
            try change(test, times: 64)
            usleep(1_000)
        }
        try #require(!isHearing)
    }

    @Test("without observers and held versions, commits wake no thread, and the writer does the work of upkeep")
    func nobodyToHear() throws {
        // Upkeep does not poll during the test.
        let test = try makeStore(notes: 100, pollNs: 3_600_000_000_000)
        let storage = test.store.core.storage
        storage.heldVersions.patienceNs.store(0, ordering: .relaxed)
        let (connection, scheduler) = try sleeper(test)
        try waitUntilNobodyHears(test)
        // The mark of a thread that waits for commits remains until the next commit that wakes it. These commits clear
        // all marks, so a mark found afterwards is of a thread that still waits.
        try change(test, times: 200)
        #expect(!storage.page.isAwaited(.everyCommit) && !storage.page.isAwaited(.slow))

        try test.store.read { _ in
            try change(test, times: 600)
            #expect(test.store.activeVersions < 400)
        }
        // Upkeep is woken for a version that stays held.
        let frozen = try test.store.read { try #require(try $0.object(Note.self, forPrimaryKey: 3)).freeze() }
        repeating(atMost: 30_000, until: { storage.page.isAwaited(.slow) }) { usleep(1_000) }
        #expect(storage.page.isAwaited(.slow))
        try withExtendedLifetime(frozen) { try change(test, times: 64) }
        withExtendedLifetime((connection, scheduler)) {}
    }

    @Test("a connection that is used again releases its version again, though upkeep had stopped waking for commits")
    func usedWhereNobodyHears() throws {
        let test = try makeStore(notes: 100, pollNs: 3_600_000_000_000)
        let (connection, scheduler) = try sleeper(test)
        try waitUntilNobodyHears(test)
        #expect(connection.version > 0 && !connection.isAsleep)
        try repeating(atMost: 1_000, until: { connection.isAsleep }) {
            try change(test, times: 100)
            scheduler.turnNow()
        }
        #expect(connection.isAsleep)
    }

    @Test("a version that was sent to a connection which has moved past it is replaced by the newest")
    func sentVersionIsOlder() throws {
        let test = try makeStore(notes: 100, pollNs: 3_600_000_000_000)
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler)).live()
        let page = test.store.core.storage.page
        repeating(atMost: 60_000, until: { connection.mailbox.hasSnapshot(after: 0) }) {
            usleep(1_000)
            try? change(test, times: 64)
        }
        try #require(connection.mailbox.hasSnapshot(after: 0))
        // A connection that falls asleep while upkeep sends it a version, and is used before its next turn.
        connection.sleep()
        repeating(atMost: 60_000, until: { test.store.oldestPin == nil }) { usleep(1_000) }
        #expect(test.store.oldestPin == nil, "what was sent holds no version")
        try change(test, times: 10)
        let version = connection.version
        #expect(!connection.isAsleep)
        scheduler.turnNow()
        #expect(!connection.isAsleep && connection.version == version)
        // Upkeep is woken by the last commit of each round, and so finds no commit after the one it wakes at.
        try repeating(atMost: 100, until: { connection.mailbox.hasSnapshot(after: version) }) {
            let interval = SharedPage.Bell.slowInterval
            try change(test, times: Int(interval - (try test.store.read { $0.version }) % interval))
            repeating(atMost: 60_000, until: { page.isAwaited(.slow) }) { usleep(1_000) }
        }
        scheduler.turnNow()
        #expect(connection.isAsleep)
    }

    @Test("a commit right after the subscription is told, though upkeep held no version until then")
    func observedAtRest() throws {
        // Polling is off. It would advance the observer a second later.
        let test = try makeStore(notes: 10, pollNs: nil)
        for round in 0..<300 {
            let scheduler = ManualScheduler()
            let connection = try test.store.connect(on: .scheduler(scheduler))
            let upkeep = try #require(test.store.core.runningUpkeep)
            while !upkeep.inbox.isResting { sched_yield() }
            var told: [StoreNotification] = []
            let token = try connection.observe { notification, _ in told.append(notification) }
            try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 3)).score = round }
            try scheduler.turn { !told.isEmpty }
            let newest = try test.store.read { $0.version }
            #expect(told == [.didChange] && connection.version == newest)
            token.invalidate()
        }
    }

    @Test("a commit stays suppressed for a new observer, though upkeep held no version")
    func silentAtRest() throws {
        let test = try makeStore(notes: 10)
        for round in 1...100 {
            let scheduler = ManualScheduler()
            let connection = try test.store.connect(on: .scheduler(scheduler))
            connection.autorefresh = false
            let upkeep = try #require(test.store.core.runningUpkeep)
            while !upkeep.inbox.isResting { sched_yield() }
            var isReady = false
            var told: [[Int]] = []
            let token = try connection.objects(Note.self).observe { change in
                isReady = true
                if case .update(_, let changes) = change { told.append(changes.modifications) }
            }
            try test.store.write(withoutNotifying: [token]) {
                try #require(try $0.object(Note.self, forPrimaryKey: 3)).score = round
            }
            try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 5)).score = round }
            try scheduler.turn { isReady }
            try connection.refresh()
            #expect(told == [[5]], "round \(round)")
            token.invalidate()
        }
    }

    @Test("during commits no connection keeps a version that it has left")
    func movingOn() throws {
        let test = try makeStore(notes: 100)
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let token = try connection.objects(Note.self).observe { _ in }
        for _ in 0..<100 {
            try change(test, times: 1)
            let newest = try test.store.read { $0.version }
            try scheduler.turn { connection.version >= newest }
        }
        // Upkeep's version, the connection's, and those that a step of upkeep holds.
        #expect(test.store.activeVersions <= 4)
        token.invalidate()
    }

    /// Pages kept by a commit: the changed row's path in its table, the log's path, the table of tables, the free list.
    @Test(
        "a held version costs at most 26 KB of file per commit (30 KB with 10,000 rows) until it is held for long",
        arguments: [(notes: 1_000, limitKB: 26), (notes: 10_000, limitKB: 30)])
    func pinned(_ notes: Int, _ limitKB: Int) throws {
        let test = try makeStore(notes: notes)
        try change(test, times: 300)
        let free = test.store.fileBytes
        try change(test, times: 500)
        let unpinned = test.store.fileBytes - free
        test.store.core.storage.heldVersions.patienceNs.store(.max, ordering: .relaxed)
        let frozen = try test.store.read { try $0.objects(Note.self).freeze() }
        let before = test.store.fileBytes
        let commits = Int(HeldVersions.patienceVersions.upperBound) - 56
        try change(test, times: commits)
        let perCommit = (test.store.fileBytes - before) / commits
        print("\(notes) rows, pinned: \(perCommit) bytes of file per commit; unpinned: \(unpinned) in 500 commits")
        #expect(unpinned <= 1 << 20)
        #expect(perCommit <= limitKB << 10)
        let pin = try #require(test.store.oldestPin)
        #expect(pin.version == frozen.version && test.store.activeVersions == commits + 1)
        withExtendedLifetime(frozen) {}
    }

    @Test("versions that other processes hold are listed, with their process")
    func otherProcesses() throws {
        let test = try TestStore(Batches.models)
        try test.store.write { try Batches.insert($0) }
        let other = try FixtureProcess(test, "observe")
        try other.go()
        try other.waitForLines(1)
        try other.pause()
        for _ in 0..<50 { try test.store.write { try Batches.insert($0) } }
        let pin = try #require(test.store.oldestPin)
        #expect(pin.version == 1 && pin.process != getpid() && pin.place == nil && pin.age == nil)
        #expect(test.store.activeVersions == 51)
        try other.killNow()
        other.waitUntilReaped()
        test.store.core.storage.releaseDeadReaders()
        #expect(test.store.oldestPin == nil)
    }

    @Test("a writer releases the version of a killed process, and the file does not grow for it")
    func killedHolder() throws {
        let test = try TestStore(Batches.models, flushes: .off)
        func commit(_ times: Int) throws {
            for _ in 0..<times { try test.store.write { try Batches.increment("n", $0) } }
        }
        try commit(1)
        let other = try FixtureProcess(test, "observe")
        try other.go()
        try other.waitForLines(1)
        try other.pause()
        let before = test.store.fileBytes
        try commit(300)
        // The paused process keeps 301 versions in the file. They must be released after its end.
        #expect(test.store.activeVersions == 301 && test.store.fileBytes - before > 1 << 20)
        try other.killNow()
        other.waitUntilReaped()
        try commit(Int(Storage.deadReaderInterval))
        #expect(test.store.oldestPin == nil && test.store.activeVersions <= 2)
        let after = test.store.fileBytes
        try commit(2_000)
        #expect(test.store.fileBytes - after <= 1 << 16)
    }

    @Test("at the limit of snapshots a live connection still commits and cancels")
    func snapshotLimit() throws {
        struct Stop: Error {}
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        var held: [Snapshot] = []
        let error = #expect(throws: StoreError.self) {
            while true { held.append(try test.store.core.storage.openSnapshot()) }
        }
        #expect(error == .tooManySnapshots(limit: Int(LMDB.maxReaders)))
        try connection.write { try connection.add(Note(id: 1)) }
        #expect(throws: Stop.self) {
            try connection.write {
                try connection.add(Note(id: 2))
                throw Stop()
            }
        }
        try test.store.write { try $0.add(Note(id: 3)) }
        held = []
        try scheduler.turn { connection.version >= 2 }
        #expect(try connection.objects(Note.self).map(\.id) == [1, 3])
    }

    @Test("at the limit of the map nothing is lost, and the store is read, cancelled and emptied")
    func mapFull() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try Store(.init(path: path, models: [Note.self], durability: .relaxed, mapBytes: 2 << 20))
        var count = 0
        let error = #expect(throws: StoreError.self) {
            while true {
                try store.write { connection in
                    for id in count..<count + 50 {
                        try connection.add(Note(id: id, title: String(repeating: "x", count: 200)))
                    }
                }
                count += 50
            }
        }
        #expect(error == .mapFull(limitBytes: 2 << 20))
        #expect(count > 1_000)
        // Writes until the last page is used.
        #expect(throws: StoreError.mapFull(limitBytes: 2 << 20)) {
            while true {
                try store.write { try $0.add(Note(id: count, title: String(repeating: "x", count: 200))) }
                count += 1
            }
        }
        for _ in 0..<3 {
            #expect(throws: StoreError.mapFull(limitBytes: 2 << 20)) {
                try store.write { connection in
                    for id in 0..<10_000 { try connection.add(Note(id: -1 - id, title: "more")) }
                }
            }
        }
        #expect(try store.read { try $0.objects(Note.self).count } == count)
        // The first deletions find hardly any free page, so each is a commit of its own.
        let later = stride(from: 500, to: count, by: 20).map { $0..<min($0 + 20, count) }
        for ids in (0..<500).map({ $0..<$0 + 1 }) + later {
            try store.write { connection in
                for id in ids {
                    try connection.delete(try #require(try connection.object(Note.self, forPrimaryKey: id)))
                }
            }
        }
        try store.write { connection in for id in 0..<count / 2 { try connection.add(Note(id: id)) } }
        #expect(try store.read { try $0.objects(Note.self).count } == count / 2)
    }
}
