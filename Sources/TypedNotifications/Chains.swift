// Lists of slots by key, in the order in which they were added. Plain data.

/// Doubly linked lists of slot numbers, one per key. A slot is in at most one list. All operations are amortised O(1).
struct Chains<Key: Hashable> {
    private struct Link {
        var previous: Int
        var next: Int
    }

    private static var none: Int { -1 }

    private var links: [Link] = []
    private var ends: [Key: (first: Int, last: Int)] = [:]

    func first(_ key: Key) -> Int? { ends[key]?.first }

    func next(_ slot: Int) -> Int? { links[slot].next == Self.none ? nil : links[slot].next }

    mutating func append(_ slot: Int, to key: Key) {
        let none = Link(previous: Self.none, next: Self.none)
        while links.count <= slot { links.append(none) }
        if let last = ends[key]?.last {
            links[last].next = slot
            links[slot] = Link(previous: last, next: Self.none)
            ends[key]!.last = slot
        } else {
            links[slot] = none
            ends[key] = (slot, slot)
        }
    }

    mutating func remove(_ slot: Int, from key: Key) {
        let link = links[slot]
        if link.previous == Self.none, link.next == Self.none {
            ends[key] = nil
            return
        }
        if link.previous == Self.none { ends[key]!.first = link.next } else { links[link.previous].next = link.next }
        if link.next == Self.none { ends[key]!.last = link.previous } else { links[link.next].previous = link.previous }
    }
}
