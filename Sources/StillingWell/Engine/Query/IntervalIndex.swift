// Finds the intervals that contain a point: an array sorted by low end, as a balanced tree in which every node has the
// highest end of its subtree. New intervals wait in a short list, so that adding one does not sort.

/// Closed intervals of 64-bit keys, each with a handle. Used by one thread at a time.
struct IntervalIndex {
    private struct Interval {
        var low: UInt64
        var high: UInt64
        var handle: Int
    }

    /// Maximum length of the list of new intervals. Up to this number of intervals in all, the index is a flat loop.
    private static let overflowLimit = 64

    private var sorted: [Interval] = []
    /// For each node of the implicit tree over `sorted`, the highest `high` of its subtree.
    private var highest: [UInt64] = []
    private var overflow: [Interval] = []

    var isEmpty: Bool { sorted.isEmpty && overflow.isEmpty }

    mutating func insert(_ low: UInt64, _ high: UInt64, handle: Int) {
        overflow.append(Interval(low: low, high: high, handle: handle))
        if overflow.count > Self.overflowLimit { rebuild() }
    }

    mutating func remove(handle: Int) {
        overflow.removeAll { $0.handle == handle }
        let before = sorted.count
        sorted.removeAll { $0.handle == handle }
        if sorted.count != before { rebuild() }
    }

    private mutating func rebuild() {
        sorted += overflow
        overflow = []
        sorted.sort { ($0.low, $0.handle) < ($1.low, $1.handle) }
        highest = Array(repeating: 0, count: sorted.count)
        _ = fillHighest(0, sorted.count)
        assert(isConsistent, "interval index: a node does not know the highest end below it, or comes too early")
    }

    /// Whether each node knows the highest end below it, and the nodes are in order. O(n · log n).
    private var isConsistent: Bool {
        func holds(_ from: Int, _ to: Int) -> Bool {
            guard from < to else { return true }
            let middle = (from + to) / 2
            return highest[middle] == sorted[from..<to].lazy.map(\.high).max() && holds(from, middle)
                && holds(middle + 1, to)
        }
        return highest.count == sorted.count && holds(0, sorted.count)
            && zip(sorted, sorted.dropFirst()).allSatisfy { $0.low <= $1.low }
    }

    private mutating func fillHighest(_ from: Int, _ to: Int) -> UInt64 {
        guard from < to else { return 0 }
        let middle = (from + to) / 2
        let below = max(fillHighest(from, middle), fillHighest(middle + 1, to))
        highest[middle] = max(below, sorted[middle].high)
        return highest[middle]
    }

    /// Appends the handle of every interval that contains `point`. O((1 + hits) · log n).
    @inline(__always)
    func append(containing point: UInt64, to handles: inout HandleList) {
        handles.append(atMost: sorted.count + overflow.count) { place in
            for interval in overflow where interval.low <= point && point <= interval.high {
                place.initialize(to: interval.handle)
                place += 1
            }
            sorted.withUnsafeBufferPointer { sorted in
                highest.withUnsafeBufferPointer { Self.visit(0, sorted.count, point, sorted, $0, &place) }
            }
        }
    }

    private static func visit(
        _ from: Int, _ to: Int, _ point: UInt64, _ sorted: UnsafeBufferPointer<Interval>,
        _ highest: UnsafeBufferPointer<UInt64>, _ place: inout UnsafeMutablePointer<Int>
    ) {
        guard from < to else { return }
        let middle = (from + to) / 2
        guard highest[middle] >= point else { return }
        visit(from, middle, point, sorted, highest, &place)
        let interval = sorted[middle]
        guard interval.low <= point else { return }
        if point <= interval.high {
            place.initialize(to: interval.handle)
            place += 1
        }
        visit(middle + 1, to, point, sorted, highest, &place)
    }
}

/// Handles found by a lookup. Keeps its memory between lookups and reserves ahead, because an array checks for
/// unique ownership at every append.
struct HandleList {
    private var storage: [Int] = []
    private(set) var count = 0

    subscript(index: Int) -> Int { storage[index] }

    mutating func removeAll() { count = 0 }

    /// Appends the handles that `body` writes. `body` advances the pointer.
    @inline(__always)
    mutating func append(atMost added: Int, _ body: (inout UnsafeMutablePointer<Int>) -> Void) {
        if storage.count < count + added {
            storage += repeatElement(0, count: max(count + added - storage.count, storage.count))
        }
        let start = count
        count += storage.withUnsafeMutableBufferPointer { storage in
            guard let base = storage.baseAddress else { return 0 }
            var place = base + start
            body(&place)
            return place - (base + start)
        }
    }

    mutating func append(_ handles: [Int]) {
        append(atMost: handles.count) { place in
            for handle in handles {
                place.initialize(to: handle)
                place += 1
            }
        }
    }
}
