// Builds list orders from the rows of the elements. Pure, except `put`.
import StillingWellTree

enum RankBuilding {
    /// Place of an element in a list.
    struct Element {
        let owner: UInt64
        let position: [UInt8]
        let id: UInt64

        init(_ row: RowReader, _ id: UInt64) {
            owner = row.slot(ListTable.owner)
            position = Array(row.bytes(ListTable.position))
            self.id = id
        }

        static func precedes(_ left: Element, _ right: Element) -> Bool {
            if left.owner != right.owner { return left.owner < right.owner }
            if left.position == right.position { return left.id < right.id }
            return left.position.lexicographicallyPrecedes(right.position)
        }
    }

    /// Builds the nodes of the lists that elements of a table belong to.
    static func build(
        _ elements: [Element], _ put: (RankKey, RankEntries) throws(StoreError) -> Void
    ) throws(StoreError) {
        let sorted = elements.sorted(by: Element.precedes)
        var first = 0
        while first < sorted.count {
            let owner = sorted[first].owner
            let end = sorted[first...].firstIndex { $0.owner != owner } ?? sorted.count
            try build(owner, sorted[first..<end], put)
            first = end
        }
    }

    private static func build(
        _ owner: UInt64, _ elements: ArraySlice<Element>, _ put: (RankKey, RankEntries) throws(StoreError) -> Void
    ) throws(StoreError) {
        var level = [RankEntries(level: 0)]
        for element in elements { add(element.id, 1, element.position, to: &level) }
        var next: UInt64 = 1
        while level.count > 1 {
            var above = [RankEntries(level: level[0].level + 1)]
            for node in level {
                try put(RankKey(owner, next), node)
                add(next, node.total, node.position(0), to: &above)
                next += 1
            }
            level = above
        }
        level[0].next = next
        try put(RankKey(owner, 0), level[0])
    }

    private static func add(_ id: UInt64, _ below: UInt64, _ position: [UInt8], to level: inout [RankEntries]) {
        if level[level.count - 1].isFull { level.append(RankEntries(level: level[0].level)) }
        position.withUnsafeBytes { level[level.count - 1].append(id, below, $0) }
    }
}
