// Checks list orders: every node is as stored, each list has one tree, positions ascend. Used by one thread.

struct RankCheck {
    /// Called with each listed element.
    typealias Visit = (_ owner: UInt64, _ position: UnsafeRawBufferPointer, _ element: UInt64) -> Void

    private let table: UInt32
    private let visit: Visit
    /// List being checked, and its nodes that have not been reached.
    private var owner: UInt64?
    private var nodes: [UInt64: [UInt8]] = [:]
    /// Number of lists without a valid tree, and of nodes that are not as stored.
    private(set) var damaged = 0

    init(_ table: UInt32, _ visit: @escaping Visit) { (self.table, self.visit) = (table, visit) }

    /// Adds the next entry, in order of keys.
    mutating func add(_ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer) {
        guard let key = RankKey(key), RankNode(bytes, key, table) != nil else {
            damaged += 1
            return
        }
        if key.owner != owner { finish() }
        owner = key.owner
        nodes[key.number] = Array(bytes)
    }

    /// Checks the list added last.
    mutating func finish() {
        guard let owner else { return }
        self.owner = nil
        let next = nodes[0]?.withUnsafeBytes { RankNode($0)?.next } ?? 0
        let areNumbered = nodes.keys.allSatisfy { $0 < max(next, 1) }
        let total = walk(0, owner, level: nil, from: nil, below: nil)
        // A node that was not reached belongs to no tree.
        if total == nil || !areNumbered || !nodes.isEmpty { damaged += 1 }
        nodes = [:]
    }

    /// - Returns: number of elements below a node, or nil if they are damaged.
    private mutating func walk(
        _ number: UInt64, _ owner: UInt64, level: Int?, from low: [UInt8]?, below high: [UInt8]?
    ) -> UInt64? {
        guard let bytes = nodes.removeValue(forKey: number) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            guard let node = RankNode(bytes), level.map({ $0 == node.level }) ?? true else { return nil }
            var previous = low
            for index in 0..<node.count {
                let isChild = node.level > 0
                let position = Array(node.position(index))
                // The position of the first child is unused.
                if !isChild || index > 0 {
                    let isBehind = previous.map { $0.lexicographicallyPrecedes(position) } ?? true
                    guard isBehind || index == (isChild ? 1 : 0) && position == low,
                        high.map({ position.lexicographicallyPrecedes($0) }) ?? true
                    else { return nil }
                    previous = position
                }
                if !isChild {
                    visit(owner, node.position(index), node.id(index))
                    continue
                }
                let end = index + 1 < node.count ? Array(node.position(index + 1)) : high
                let from = index > 0 ? position : low
                guard walk(node.id(index), owner, level: node.level - 1, from: from, below: end) == node.below(index)
                else { return nil }
            }
            return node.total
        }
    }
}
