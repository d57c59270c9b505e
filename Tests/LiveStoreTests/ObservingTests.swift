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
}
