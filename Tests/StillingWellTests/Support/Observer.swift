// An observer on its own run-loop thread that records its callbacks, for tests with normal deliveries.
import Foundation
import StillingWell
import StillingWellSync
import Testing

/// A callback of an observer, in a form that can be compared.
enum Told: Equatable, Sendable {
    case initial([Int])
    case update(ChangeSet, [Int])
    case failed(StoreError)
}

/// A connection on a thread of its own, with observers that record their callbacks.
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
