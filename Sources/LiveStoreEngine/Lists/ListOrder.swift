// The order of lists as the store keeps it: of each object's list a counted tree from ranks to elements and back, so that neither
// takes reading the list. Positions in the elements' rows stay what the order is by; the tree follows them in the transaction
// that changes them. Constant while the store is open; read under whatever guards the transaction it is read with.
import CEngine
import CLMDB
import Glibc
import RankedTree

package struct ListOrder: Sendable {
    /// That of the elements.
    let table: UInt32
    let handle: MDB_dbi
    private let checked = CheckedNodes()

    init(table: UInt32, handle: MDB_dbi) { (self.table, self.handle) = (table, handle) }

    // MARK: Nodes

    /// A node; nil where there is none under this number.
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
        guard let (other, bytes) = try require(key, key, transaction) else { return }
        guard let other = RankKey(other), RankNode(bytes, other, table) != nil else { throw damaged(key.owner) }
    }

    @discardableResult
    private func require(
        _ first: RankKey, _ last: RankKey, _ transaction: LMDBTransaction
    ) throws(EngineFailure) -> RangeCheck.Neighbour? {
        let outcome = first.with { first in
            last.with { last in
                Swift.Result { () throws(EngineFailure) in
                    try RangeCheck.require(transaction, handle, engine_range(keys: first, last))
                }
            }
        }
        return try outcome.get()
    }

    /// Checks that a scan of all nodes of a list has met each.
    func requireWhole(_ owner: UInt64, _ transaction: LMDBTransaction) throws(EngineFailure) {
        try require(RankKey(owner, 0), RankKey(owner, .max), transaction)
    }

    /// Notes a node that has been checked, or has just been written.
    func noteWhole(_ node: RankNode, _ key: RankKey) { checked.insert(key, node.sum) }

    func root(_ owner: UInt64, _ transaction: LMDBTransaction) throws(EngineFailure) -> RankNode? {
        try node(RankKey(owner, 0), transaction)
    }

    /// What hangs below an entry of an inner node.
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

    package func damaged(_ owner: UInt64) -> EngineFailure { .damagedList(table, owner) }

    // MARK: Reading

    func count(of owner: UInt64, _ transaction: LMDBTransaction) throws(EngineFailure) -> Int {
        Int(truncatingIfNeeded: try root(owner, transaction)?.total ?? 0)
    }

    /// Visits the elements at some ranks in order. O(log n + elements).
    func forEach(
        of owner: UInt64, in ranks: Range<Int>, _ transaction: LMDBTransaction,
        _ body: (_ position: UnsafeRawBufferPointer, _ element: ObjectID) -> Void
    ) throws(EngineFailure) {
        if let root = try root(owner, transaction) { try visit(root, owner, ranks, transaction, body) }
    }

    /// - Parameter ranks: counted from the node's first element; may begin before it and end behind its last one.
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

    /// The elements beside a rank: those of its leaf, with the rank of the first one. O(log n).
    func run(
        around rank: Int, of owner: UInt64, _ transaction: LMDBTransaction
    ) throws(EngineFailure) -> ListRun {
        guard var node = try root(owner, transaction) else { return ListRun(count: 0, first: 0, ids: []) }
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

    /// The rank of an element, by its position, and its neighbours; nil where the list has it not there. O(log n).
    func rank(
        of element: ObjectID, at position: UnsafeRawBufferPointer, of owner: UInt64, _ transaction: LMDBTransaction
    ) throws(EngineFailure) -> (rank: Int, run: ListRun)? {
        guard var node = try root(owner, transaction) else { return nil }
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

/// Neighbours in a list.
package struct ListRun: Sendable {
    /// How long the list is.
    package let count: Int
    /// The rank of the first one here.
    package let first: Int
    package let ids: [UInt64]

    package init(count: Int, first: Int, ids: [UInt64]) { (self.count, self.first, self.ids) = (count, first, ids) }

    package var ranks: Range<Int> { first..<first + ids.count }
}
