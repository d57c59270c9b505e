// Stored order of lists: for each object's list a counted tree between ranks and elements, so that neither lookup reads
// the whole list. Positions in the elements' rows define the order. The tree is updated in the transaction that changes
// them. Constant while the store is open. Reads follow the locking of the transaction that they use.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc
import StillingWellTree

struct ListOrder: Sendable {
    /// Table number of the elements.
    let table: UInt32
    let handle: MDB_dbi
    /// LMDB table with the rows of the elements.
    private let rows: MDB_dbi
    private let checked = CheckedNodes()
    /// Maximum number of nodes of a property's lists that are read to count elements, which takes 500,000 instructions.
    private static let mostCounted = 4_096

    init(table: UInt32, handle: MDB_dbi, rows: MDB_dbi) {
        (self.table, self.handle, self.rows) = (table, handle, rows)
    }

    // MARK: Nodes

    /// Node with a key, or nil if there is none.
    @inline(__always)
    func node(_ key: RankKey, _ transaction: LMDBTransaction) throws(EngineFailure) -> RankNode? {
        var value = MDB_val()
        guard try LMDB.found(key.with { engine_get(transaction, handle, &$0, &value) }) else {
            try requireAbsent(key, transaction)
            return nil
        }
        let bytes = value.bytes
        if bytes.count >= RankNode.headerBytes, checked.contains(key, bytes.loadUnaligned(as: UInt32.self)),
            let node = RankNode(bytes)
        {
            return node
        }
        guard let node = RankNode(bytes, key, table) else { throw damaged(key.owner) }
        noteWhole(node, key)
        return node
    }

    @inline(never)
    private func requireAbsent(_ key: RankKey, _ transaction: LMDBTransaction) throws(EngineFailure) {
        let outcome = key.with { bytes in
            Swift.Result { () throws(EngineFailure) in
                try RangeCheck.requireEmpty(transaction, handle, engine_range(keys: bytes, bytes)) {
                    (other, node) throws(EngineFailure) in
                    guard let other = RankKey(other), RankNode(node, other, table) != nil else {
                        throw damaged(key.owner)
                    }
                }
            }
        }
        try outcome.get()
    }

    /// Checks that a scan of a list's nodes has met every node.
    func requireWhole(_ owner: UInt64, _ transaction: LMDBTransaction) throws(EngineFailure) {
        let outcome = RankKey(owner, 0).with { first in
            RankKey(owner, .max).with { last in
                Swift.Result { () throws(EngineFailure) in
                    try RangeCheck.require(transaction, handle, engine_range(keys: first, last))
                }
            }
        }
        try outcome.get()
    }

    /// Root of a list for reading, or nil if the list is empty.
    /// - Throws: errors of reads; `damagedList` if there is no root, and the lists have more or fewer elements than
    ///   there are element rows. Elements are not counted again after an equal count, nor if there are more than
    ///   `mostCounted` nodes. Called between changes of the transaction.
    private func shownRoot(_ owner: UInt64, _ transaction: LMDBTransaction) throws(EngineFailure) -> RankNode? {
        if let root = try root(owner, transaction) { return root }
        if checked.areCounted.load(ordering: .relaxed) { return nil }
        let elements = try LMDB.count(transaction, rows)
        if elements == 0 { return nil }
        if try LMDB.count(transaction, handle) <= Self.mostCounted {
            guard try listed(transaction) == elements else { throw damaged(owner) }
        }
        checked.areCounted.store(true, ordering: .relaxed)
        return nil
    }

    /// Number of elements of all lists. O(nodes).
    private func listed(_ transaction: LMDBTransaction) throws(EngineFailure) -> Int {
        let cursor = try LMDB.openCursor(transaction, handle)
        defer { mdb_cursor_close(cursor) }
        var (key, value) = (MDB_val(), MDB_val())
        var total: UInt64 = 0
        var step = MDB_FIRST
        while try LMDB.found(engine_cursor_get(cursor, &key, &value, step)) {
            step = MDB_NEXT
            guard let key = RankKey(key.bytes) else { throw damaged(0) }
            if key.number != 0 { continue }
            guard let root = RankNode(value.bytes, key, table) else { throw damaged(key.owner) }
            total &+= root.total
        }
        return Int(truncatingIfNeeded: total)
    }

    /// Remembers a node that was checked or written.
    func noteWhole(_ node: RankNode, _ key: RankKey) { checked.insert(key, node.sum) }

    func root(_ owner: UInt64, _ transaction: LMDBTransaction) throws(EngineFailure) -> RankNode? {
        try node(RankKey(owner, 0), transaction)
    }

    /// Child node of an entry of an inner node.
    @inline(__always)
    func child(
        _ index: Int, of node: RankNode, _ owner: UInt64, _ transaction: LMDBTransaction
    ) throws(EngineFailure) -> RankNode {
        guard let child = try self.node(RankKey(owner, node.id(index)), transaction), child.level == node.level - 1,
            child.total == node.below(index)
        else {
            throw damaged(owner)
        }
        return child
    }

    func damaged(_ owner: UInt64) -> EngineFailure { .damagedList(table, owner) }

    // MARK: Reading

    func count(of owner: UInt64, _ transaction: LMDBTransaction) throws(EngineFailure) -> Int {
        Int(truncatingIfNeeded: try shownRoot(owner, transaction)?.total ?? 0)
    }

    /// Visits the elements in a range of ranks in order. O(log n + elements).
    func forEach(
        of owner: UInt64, in ranks: Range<Int>, _ transaction: LMDBTransaction,
        _ body: (_ position: UnsafeRawBufferPointer, _ element: ObjectID) -> Void
    ) throws(EngineFailure) {
        if let root = try shownRoot(owner, transaction) { try visit(root, owner, ranks, transaction, body) }
    }

    /// - Parameter ranks: relative to the node's first element. May extend beyond the node at both ends.
    private func visit(
        _ node: RankNode, _ owner: UInt64, _ ranks: Range<Int>, _ transaction: LMDBTransaction,
        _ body: (UnsafeRawBufferPointer, ObjectID) -> Void
    ) throws(EngineFailure) {
        if node.level == 0 {
            for index in ranks.clamped(to: 0..<node.count) {
                body(node.position(index), ObjectID(rawValue: node.id(index)))
            }
            return
        }
        var first = 0
        for index in 0..<node.count {
            if first >= ranks.upperBound { return }
            let end = first &+ Int(truncatingIfNeeded: node.below(index))
            if end > ranks.lowerBound {
                let child = try child(index, of: node, owner, transaction)
                try visit(child, owner, ranks.lowerBound - first..<ranks.upperBound - first, transaction, body)
            }
            first = end
        }
    }

    /// Elements around a rank: those of its leaf, with the rank of the first. O(log n).
    func run(
        around rank: Int, of owner: UInt64, _ transaction: LMDBTransaction
    ) throws(EngineFailure) -> ListRun {
        guard var node = try shownRoot(owner, transaction) else { return ListRun(count: 0, first: 0, ids: []) }
        let count = Int(truncatingIfNeeded: node.total)
        var first = 0
        while node.level > 0 {
            var index = 0
            while index < node.count - 1, case let below = Int(truncatingIfNeeded: node.below(index)),
                first &+ below <= rank
            {
                first &+= below
                index += 1
            }
            node = try child(index, of: node, owner, transaction)
        }
        return ListRun(count: count, first: first, ids: node.copyWords(0..<node.count))
    }

    /// Rank of an element, found by its position, and its neighbours. Returns nil if it is not there. O(log n).
    func rank(
        of element: ObjectID, at position: UnsafeRawBufferPointer, of owner: UInt64, _ transaction: LMDBTransaction
    ) throws(EngineFailure) -> (rank: Int, run: ListRun)? {
        guard var node = try shownRoot(owner, transaction) else { return nil }
        let count = Int(truncatingIfNeeded: node.total)
        var rank = 0
        while node.level > 0 {
            let index = node.childIndex(position)
            for before in 0..<index { rank &+= Int(truncatingIfNeeded: node.below(before)) }
            node = try child(index, of: node, owner, transaction)
        }
        let index = node.lowerBound(position)
        guard index < node.count, node.id(index) == element.rawValue else { return nil }
        return (rank &+ index, ListRun(count: count, first: rank, ids: node.copyWords(0..<node.count)))
    }
}

/// Adjacent elements of a list.
struct ListRun: Sendable {
    /// Number of elements of the whole list.
    let count: Int
    /// Rank of the first element of the run.
    let first: Int
    let ids: [UInt64]

    init(count: Int, first: Int, ids: [UInt64]) { (self.count, self.first, self.ids) = (count, first, ids) }

    var ranks: Range<Int> { first..<first + ids.count }
}
