// Tests of the mail that waits for a connection: one root per query, the newest.
import Testing

@testable import StillingWell
@testable import StillingWellTree

@Suite("Mailbox")
struct MailboxTests {
    private let test: TestStore
    private let mailbox = Mailbox(ManualScheduler())
    private let query: ConnectionQuery

    init() throws {
        test = try TestStore(durability: .memory)
        let table = try test.store.core.storage.table(of: Note.self)
        query = ConnectionQuery(QueryPlan(table: table, filter: .and([]), sort: []), table)
        _ = query.attach()
        query.add(CollectionToken(query) { _ in })
    }

    private func tree(_ ids: ClosedRange<UInt64>) -> RankedTree {
        RankedTree(sorted: ids.map { RankedEntry(key: RankedKey(prefix: $0, id: $0), stamp: 1) })
    }

    private func put(_ updates: [RootUpdate]) throws {
        var mail = VersionMail(updates: updates)
        mailbox.put(try test.store.core.storage.openSnapshot(), &mail)
    }

    /// Returns the change sets that the observer receives. nil stands for its initial callback.
    private func told() -> [ChangeSet?] {
        let mail = mailbox.take(minimum: 0)
        var told: [ChangeSet?] = []
        for update in mail.updates { update.query.ofConnection.accept(update) }
        for update in mail.updates {
            update.query.ofConnection.tell(update, old: nil) { _, change in
                switch change {
                case .initial: told.append(nil)
                case .update(let known, _): told.append(known.changes)
                case .failed(let error): Issue.record(error)
                }
            }
        }
        return told
    }

    private func update(_ tree: RankedTree, from old: RankedTree? = nil) -> RootUpdate {
        let ahead = old.map { KnownChanges(from: $0, .between($0, tree, in: .all)) }
        return RootUpdate(query: query, attachment: query.attachment, tree: tree, ahead: ahead)
    }

    @Test("if a root arrives twice in one delivery, the change leads to the last one")
    func twice() throws {
        let (first, second, third) = (tree(1...3), tree(1...4), tree(1...6))
        try put([update(first)])
        #expect(told() == [nil])
        // The last update begins at a root that is never delivered.
        try put([update(first, from: first), update(second, from: first)])
        try put([update(third, from: second)])
        let changes = told()
        #expect(changes.count == 1 && changes.first??.insertions == [3, 4, 5])
        #expect(told().isEmpty)
    }

    @Test("the last of two roots that arrive together is told, from the previous delivery")
    func twiceAtOnce() throws {
        let (first, second, third) = (tree(1...3), tree(2...4), tree(2...6))
        try put([update(first)])
        _ = told()
        try put([update(second, from: first), update(third, from: second)])
        let changes = told()
        #expect(changes.count == 1 && changes.first??.deletions == [0] && changes.first??.insertions == [2, 3, 4])
    }
}
