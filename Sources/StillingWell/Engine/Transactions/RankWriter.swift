// Changes the order of one list in a write transaction, while the write lock is held.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc
import StillingWellTree

struct RankWriter {
    /// A node on the path from the root, and the index of the entry that the path follows.
    private struct Step {
        let number: UInt64
        var entries: RankEntries
        let index: Int
    }

    let order: ListOrder
    let owner: UInt64
    let transaction: LMDBTransaction
    let storage: Storage

    // MARK: Elements

    /// Inserts an element at its position. O(log n).
    func insert(_ element: ObjectID, at position: UnsafeRawBufferPointer) throws(StoreError) {
        var path = try descend(to: position)
        guard let leaf = path.indices.last else {
            var root = RankEntries(level: 0)
            root.next = 1
            root.append(element.rawValue, 1, position)
            return try put(0, root)
        }
        var next = path[0].entries.next
        var place = path[leaf].index
        path[leaf].entries.insert(element.rawValue, 1, position, at: place)
        for depth in (1..<path.count).reversed() {
            let split = path[depth].entries.isTooLarge ? path[depth].entries.split(after: place) : nil
            try put(path[depth].number, path[depth].entries)
            let above = path[depth - 1].index
            path[depth - 1].entries.setBelow(path[depth].entries.total, at: above)
            // If this node was not split, no node above it is.
            place = above
            guard let split else { continue }
            place = above + 1
            split.position(0).withUnsafeBytes { path[depth - 1].entries.insert(next, split.total, $0, at: place) }
            try put(next, split)
            next += 1
        }
        var root = path[0].entries
        root.next = next
        if root.isTooLarge { root = try splitRoot(root, after: place) }
        try put(0, root)
    }

    /// Removes an element at a position. O(log n).
    func remove(_ element: ObjectID, at position: UnsafeRawBufferPointer) throws(StoreError) {
        var path = try descend(to: position)
        guard let leaf = path.last, leaf.index < leaf.entries.count, leaf.entries.id(leaf.index) == element.rawValue
        else { throw storage.error(order.damaged(owner), "change a list") }
        path[path.count - 1].entries.remove(at: leaf.index)
        for depth in (1..<path.count).reversed() {
            let (step, place) = (path[depth], path[depth - 1].index)
            if step.entries.count == 0 {
                try delete(step.number)
                path[depth - 1].entries.remove(at: place)
                continue
            }
            path[depth - 1].entries.setBelow(step.entries.total, at: place)
            if step.entries.isSmall, try merge(step.entries, at: place, &path[depth - 1].entries) { continue }
            try put(step.number, step.entries)
        }
        try putRoot(path[0].entries)
    }

    /// Removes all elements of the list. O(n log n).
    /// - Returns: the elements, ascending.
    func removeAll() throws(StoreError) -> [ObjectID] {
        var elements: [ObjectID] = []
        try storage.reading("empty a list") { () throws(EngineFailure) in
            let cursor = try LMDB.openCursor(transaction, order.handle)
            defer { mdb_cursor_close(cursor) }
            var (key, value) = (MDB_val(), MDB_val())
            var code = RankKey(owner, 0).with { first in
                let code = engine_cursor_get(cursor, &first, &value, MDB_SET_RANGE)
                key = first
                return code
            }
            var total: UInt64 = 0
            while try LMDB.found(code), let found = RankKey(key.bytes), found.owner == owner {
                guard let node = RankNode(value.bytes, found, order.table) else { throw order.damaged(owner) }
                if found.number == 0 { total = node.total }
                if node.level == 0 { elements += node.copyWords(0..<node.count).map { ObjectID(rawValue: $0) } }
                _ = try LMDB.found(engine_cursor_del(cursor, 0))
                code = engine_cursor_get(cursor, &key, &value, MDB_NEXT)
            }
            try order.requireWhole(owner, transaction)
            guard UInt64(elements.count) == total else { throw order.damaged(owner) }
        }
        return elements.sorted()
    }

    // MARK: Nodes

    private func descend(to position: UnsafeRawBufferPointer) throws(StoreError) -> [Step] {
        try storage.reading("read a list") { () throws(EngineFailure) in
            var path: [Step] = []
            guard var node = try order.root(owner, transaction) else { return path }
            var number: UInt64 = 0
            while true {
                let index = node.level == 0 ? node.lowerBound(position) : node.childIndex(position)
                path.append(Step(number: number, entries: RankEntries(node), index: index))
                if node.level == 0 { return path }
                number = node.id(index)
                node = try order.child(index, of: node, owner, transaction)
            }
        }
    }

    /// Splits a root that is too large, and returns a new root above the halves.
    private func splitRoot(_ root: RankEntries, after place: Int) throws(StoreError) -> RankEntries {
        var (low, above) = (root, RankEntries(level: root.level + 1))
        let high = low.split(after: place)
        above.next = root.next
        for half in [low, high] {
            half.position(0).withUnsafeBytes { above.append(above.next, half.total, $0) }
            try put(above.next, half)
            above.next += 1
        }
        return above
    }

    /// Stores a root after a removal. Replaces a root with a single child by that child.
    private func putRoot(_ entries: RankEntries) throws(StoreError) {
        var root = entries
        while root.level > 0, root.count == 1 {
            let number = root.id(0)
            var only = try load(number)
            only.next = root.next
            try delete(number)
            root = only
        }
        if root.count == 0 { try delete(0) } else { try put(0, root) }
    }

    /// Merges a small child of a node with a neighbour, if they fit into one node.
    private func merge(_ child: RankEntries, at place: Int, _ above: inout RankEntries) throws(StoreError) -> Bool {
        if above.count < 2 { return false }
        let second = max(place, 1)
        var low = second == place ? try load(above.id(second - 1)) : child
        let high = second == place ? child : try load(above.id(second))
        guard low.hasRoom(for: high) else { return false }
        low.append(contentsOf: high, from: above.position(second))
        try delete(above.id(second))
        try put(above.id(second - 1), low)
        above.remove(at: second)
        above.setBelow(low.total, at: second - 1)
        return true
    }

    private func load(_ number: UInt64) throws(StoreError) -> RankEntries {
        try storage.reading("read a list") { () throws(EngineFailure) in
            guard let node = try order.node(RankKey(owner, number), transaction) else { throw order.damaged(owner) }
            return RankEntries(node)
        }
    }

    func put(_ number: UInt64, _ entries: RankEntries) throws(StoreError) {
        try storage.reserve(entries.byteCount)
        let (code, place) = entries.store(RankKey(owner, number), order, transaction)
        try storage.check(code, "store a list's order")
        if storage.durability == .memory, let place { try storage.stored(at: place) }
    }

    private func delete(_ number: UInt64) throws(StoreError) {
        let code = RankKey(owner, number).with { engine_del(transaction, order.handle, &$0, nil) }
        try storage.check(code, "delete of a list's order")
    }
}

extension RankEntries {
    /// Stores the entries as the node of a key.
    /// - Returns: LMDB's code, and the address of the stored node.
    func store(
        _ key: RankKey, _ order: ListOrder, _ transaction: LMDBTransaction
    ) -> (code: Int32, place: UnsafeRawPointer?) {
        var value = MDB_val(mv_size: byteCount, mv_data: nil)
        let code = key.with { engine_put(transaction, order.handle, &$0, &value, UInt32(MDB_RESERVE)) }
        guard code == 0, let place = value.mv_data else { return (code, nil) }
        write(to: place, key, order.table)
        if let node = RankNode(UnsafeRawBufferPointer(start: place, count: byteCount)) { order.noteWhole(node, key) }
        return (code, UnsafeRawPointer(place))
    }
}
