import Foundation
import LiveStore
import Testing
import TracedSync

/// What an observer was told, in terms a test can compare.
enum Told: Equatable, Sendable {
    case initial([Int])
    case update(ChangeSet, [Int])
    case failed(StoreError)
}

/// A connection on a thread of its own, with observers that keep what they are told.
final class Observer: @unchecked Sendable {
    let thread = RunLoopThread("test-observer")
    let told = Watched<[Told]>([])
    // Used on `thread` only.
    private(set) var connection: Connection!
    private var tokens: [NotificationToken] = []

    init(_ store: Store) throws {
        try thread.performAndWait { self.connection = try store.connect(on: .runLoop) }
    }

    func observe(_ query: @escaping @Sendable (Results<Note>) -> Results<Note> = { $0 }) throws {
        try thread.performAndWait { [self] in
            let results = try query(connection.objects(Note.self))
            let token = try results.observe { [told] change in
                switch change {
                case .initial(let notes): told.update { $0.append(.initial(notes.map(\.id))) }
                case .update(let notes, let changes): told.update { $0.append(.update(changes, notes.map(\.id))) }
                case .error(let error): told.update { $0.append(.failed(error)) }
                }
            }
            tokens.append(token)
        }
    }

    func invalidate() throws { try thread.performAndWait { self.tokens.forEach { $0.invalidate() } } }

    func stop() {
        try? thread.performAndWait { [self] in
            for token in tokens { token.invalidate() }
            tokens = []
            connection = nil
        }
        thread.stop()
    }
}

@Suite("Observing results")
struct ObservingTests {
    @Test("the first callback is the initial one, later ones say what changed", arguments: Durability.allCases)
    func updates(_ durability: Durability) throws {
        let test = try TestStore(durability: durability)
        let store = test.store
        try store.write { for id in 0..<5 { try $0.add(Note(id: id, score: id * 10)) } }
        let observer = try Observer(store)
        defer { observer.stop() }
        try observer.observe { $0.where(\.score >= 10).sorted(by: \.score, ascending: false) }
        try observer.told.wait("initial") { $0 == [.initial([4, 3, 2, 1])] }

        try store.write { try #require(try $0.object(Note.self, forPrimaryKey: 1)).score = 35 }
        let told = try observer.told.wait("update") { $0.count == 2 }
        guard case .update(let changes, let ids) = told[1] else { throw Failure(told) }
        #expect(ids == [4, 1, 3, 2])
        #expect(changes.deletions == [3])
        #expect(changes.insertions == [1])
        #expect(changes.modifications.isEmpty)
        #expect(changes.moves == [Move(from: 3, to: 1)])
    }

    struct Failure: Error {
        let told: [Told]
        init(_ told: [Told]) { self.told = told }
    }

    @Test("commits before the first delivery are in the initial callback, once")
    func initialOnce() throws {
        let test = try TestStore()
        let observer = try Observer(test.store)
        defer { observer.stop() }
        try observer.thread.performAndWait {
            // The run loop is busy here, so everything below happens before anything can be delivered.
            try observer.observe { $0.sorted(by: \.id) }
            for id in 0..<50 { try test.store.write { try $0.add(Note(id: id)) } }
        }
        let told = try observer.told.wait("the last note") { told in
            switch told.last {
            case .initial(let ids), .update(_, let ids): ids.count == 50
            default: false
            }
        }
        guard case .initial = told.first else { throw Failure(told) }
        #expect(told.dropFirst().allSatisfy { if case .update = $0 { true } else { false } })
    }

    @Test("a second observer of the same query has an initial callback of its own")
    func secondObserver() throws {
        let test = try TestStore()
        try test.store.write { try $0.add(Note(id: 1)) }
        let observer = try Observer(test.store)
        defer { observer.stop() }
        try observer.observe()
        try observer.told.wait("first") { $0 == [.initial([1])] }
        try observer.observe()
        try observer.told.wait("second") { $0 == [.initial([1]), .initial([1])] }
        try test.store.write { try $0.add(Note(id: 2)) }
        let told = try observer.told.wait("both updates") { $0.count == 4 }
        #expect(told[2] == told[3])
    }

    @Test("changes outside of the filter give no callback")
    func outside() throws {
        let test = try TestStore()
        try test.store.write { for id in 0..<4 { try $0.add(Note(id: id, score: id, group: id % 2)) } }
        let observer = try Observer(test.store)
        defer { observer.stop() }
        try observer.observe { $0.where(\.group == 1).sorted(by: \.id) }
        try observer.told.wait("initial") { $0 == [.initial([1, 3])] }
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 0)).score = 9 }
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 3)).score = 9 }
        let told = try observer.told.wait("the one update") { $0.count == 2 }
        guard case .update(let changes, _) = told[1] else { throw Failure(told) }
        #expect(changes.modifications == [1] && changes.deletions.isEmpty && changes.insertions.isEmpty)
    }

    @Test("once invalidate has returned, from any thread, nothing is called")
    func invalidated() throws {
        let test = try TestStore()
        let silent = try Observer(test.store)
        let witness = try Observer(test.store)
        defer {
            silent.stop()
            witness.stop()
        }
        try silent.observe()
        try witness.observe()
        try silent.told.wait("initial") { $0.count == 1 }
        try witness.told.wait("initial") { $0.count == 1 }
        try silent.invalidate()
        try test.store.write { try $0.add(Note(id: 1)) }
        try witness.told.wait("update") { $0.count == 2 }
        // The same connection, so that a delivery to it would have come by now.
        try silent.observe()
        try silent.told.wait("the new token's initial") { $0.count == 2 }
        #expect(silent.told.value == [.initial([]), .initial([1])])
    }

    @Test("a token that invalidates itself in its callback is not called again, and the next one still is")
    func invalidatedInside() throws {
        let test = try TestStore()
        let thread = RunLoopThread("inside")
        defer { thread.stop() }
        let calls = Watched<[String]>([])
        nonisolated(unsafe) var held: [Any] = []
        try thread.performAndWait {
            let notes = try test.store.connect(on: .runLoop).objects(Note.self)
            nonisolated(unsafe) var first: NotificationToken?
            first = try notes.observe { _ in
                calls.update { $0.append("first") }
                first?.invalidate()
            }
            let second = try notes.observe { _ in calls.update { $0.append("second") } }
            held = [first!, second]
        }
        try calls.wait("initial") { $0 == ["first", "second"] }
        try test.store.write { try $0.add(Note(id: 1)) }
        try calls.wait("update") { $0 == ["first", "second", "second"] }
        try thread.performAndWait { held.forEach { ($0 as? NotificationToken)?.invalidate() } }
    }

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

    @Test("a write from a callback arrives in a later delivery, and callbacks never nest")
    func writeInCallback() throws {
        let test = try TestStore()
        let thread = RunLoopThread("writing")
        defer { thread.stop() }
        let depths = Watched<[Int]>([])
        let counts = Watched<[Int]>([])
        nonisolated(unsafe) var token: NotificationToken?
        try thread.performAndWait {
            nonisolated(unsafe) var depth = 0
            let notes = try test.store.connect(on: .runLoop).objects(Note.self)
            token = try notes.observe { change in
                depth += 1
                depths.update { $0.append(depth) }
                counts.update { $0.append(notes.count) }
                if notes.count < 5 {
                    do { try notes.connection.write { try notes.connection.add(Note(id: notes.count)) } } catch {
                        Issue.record(error)
                    }
                }
                depth -= 1
            }
        }
        try counts.wait("five notes") { $0.last == 5 }
        #expect(counts.value == [0, 1, 2, 3, 4, 5])
        #expect(depths.value.allSatisfy { $0 == 1 })
        try thread.performAndWait { token?.invalidate() }
    }

    @Test("observing where nothing can be delivered is an error that says what to do")
    func noScheduler() throws {
        let test = try TestStore()
        let error = #expect(throws: StoreError.noScheduler) {
            try test.store.read { _ = try $0.objects(Note.self).observe { _ in } }
        }
        #expect(error.map { "\($0)" }?.contains("RunLoopThread") == true)
    }

    @Test("a closed store delivers nothing more and refuses work, in a callback too")
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

    @Test("no lock is held while user code runs, except the write lock around a write block")
    func noLocks() throws {
        let held = HeldLocks()
        Tracing.start(held)
        defer { Tracing.stop() }
        let test = try TestStore()
        let thread = RunLoopThread("locks")
        defer { thread.stop() }
        let seen = Watched<[[String]]>([])
        nonisolated(unsafe) var token: NotificationToken?
        try thread.performAndWait {
            let notes = try test.store.connect(on: .runLoop).objects(Note.self)
            token = try notes.observe { _ in
                let held = HeldLocks.ofThisThread()
                seen.update { $0.append(held) }
            }
        }
        try seen.wait("initial") { $0.count == 1 }
        let inWrite = try test.store.write { connection in
            try connection.add(Note(id: 1))
            return HeldLocks.ofThisThread()
        }
        try seen.wait("update") { $0.count == 2 }
        #expect(inWrite == ["store write lock"])
        #expect(seen.value == [[], []])
        try thread.performAndWait { token?.invalidate() }
    }
}

/// Keeps, per thread, the names of the locks it holds. Thread-local, so it needs no lock itself.
private final class HeldLocks: TracedSink {
    private static let key = "tidegauge.test.held-locks"

    static func ofThisThread() -> [String] { Thread.current.threadDictionary[key] as? [String] ?? [] }

    func record(_ event: TracedEvent, _ resource: TracedResource) {
        guard resource.kind == .mutex || resource.kind == .fileLock else { return }
        var held = Self.ofThisThread()
        switch event {
        case .acquired: held.append(resource.name)
        case .released: if let index = held.lastIndex(of: resource.name) { held.remove(at: index) }
        default: return
        }
        Thread.current.threadDictionary[Self.key] = held
    }
}
