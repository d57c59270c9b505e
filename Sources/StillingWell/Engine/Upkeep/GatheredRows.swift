// Rows gathered for trees with the same order. Each row's key is made once and all rows are sorted once, for any number
// of trees. Used by one thread.

struct GatheredRows {
    private let table: Table
    private var encoder: SortKeyEncoder
    private let isNumeric: Bool
    private var keys = GatheredKeys()
    /// Used in place of `keys` if keys are numbers without groups or sections.
    private var numbers: [RankedNumber] = []

    /// - Parameter key: the key of any of the trees.
    init(_ key: TreeKey, _ table: Table) {
        self.table = table
        encoder = SortKeyEncoder(key, table.schema)
        isNumeric = encoder.isNumeric && key.distinct.isEmpty && key.section == nil
    }

    @inline(__always)
    mutating func add(_ id: ObjectID, _ row: RowReader, _ source: any RowSource) {
        if isNumeric {
            numbers.append(RankedNumber(prefix: encoder.key(row, id, source, table.links).prefix, id: id.rawValue))
        } else {
            keys.add(id) { encoder.append(row, id, source, table.links, to: &$0) }
        }
    }

    /// - Returns: for each sorted row, the number of rows that were added before it.
    mutating func sort() -> [UInt32] {
        if isNumeric {
            let order = NumberSort.order(of: numbers)
            numbers = order.map { numbers[Int($0)] }
            return order
        }
        keys.sort()
        return keys.order
    }

    /// Makes a tree of all rows. They have to be sorted.
    func tree(_ form: TreeForm, stamp: UInt64) -> RankedTree {
        if isNumeric { return numbers.withUnsafeBufferPointer { RankedTree(sorted: $0, stamp: stamp) } }
        return keys.withKeys(keys.order) { form.tree(sorted: $0, stamp: stamp) }
    }

    /// Makes a tree of some of the rows. They have to be sorted.
    /// - Parameter places: ascending indices of sorted rows.
    func tree(_ form: TreeForm, stamp: UInt64, at places: [UInt32]) -> RankedTree {
        guard isNumeric else {
            return keys.withKeys(places.map { keys.order[Int($0)] }) { form.tree(sorted: $0, stamp: stamp) }
        }
        return numbers.withUnsafeBufferPointer { numbers in
            withUnsafeTemporaryAllocation(of: RankedNumber.self, capacity: places.count) { chosen in
                for (index, place) in places.enumerated() {
                    chosen.initializeElement(at: index, to: numbers[Int(place)])
                }
                return RankedTree(sorted: UnsafeBufferPointer(rebasing: chosen[..<places.count]), stamp: stamp)
            }
        }
    }
}

/// The gathered rows that belong to one tree. Manages its memory by hand: an array checks for unique ownership at every
/// append, and with 100 trees most time is spent here. The owner calls `free`.
struct ChosenRows {
    private static let fewest = 64

    private var base: UnsafeMutablePointer<UInt32>?
    private var count = 0
    private var capacity = 0

    /// For each row, the number of rows that were gathered before it.
    var added: UnsafeBufferPointer<UInt32> { UnsafeBufferPointer(start: base, count: count) }

    @inline(__always)
    mutating func add(_ number: UInt32) {
        if count == capacity { grow() }
        base.unsafelyUnwrapped[count] = number
        count += 1
    }

    @inline(never)
    private mutating func grow() {
        capacity = max(Self.fewest, capacity * 2)
        let larger = UnsafeMutablePointer<UInt32>.allocate(capacity: capacity)
        if let base {
            larger.initialize(from: base, count: count)
            base.deallocate()
        }
        base = larger
    }

    /// Frees the memory and removes all rows.
    mutating func free() {
        base?.deallocate()
        (base, count, capacity) = (nil, 0, 0)
    }

    /// Places of the rows in the order of all rows, ascending. O(all rows / 64 + chosen), or O(chosen log chosen) for
    /// few.
    /// - Parameters:
    ///   - places: place of each row, by the number of rows gathered before it.
    ///   - marks: a bit for each row, all 0 before and after the call.
    func places(_ places: [UInt32], _ marks: inout [UInt64]) -> [UInt32] {
        let added = added
        if added.count * 4 < marks.count { return added.map { places[Int($0)] }.sorted() }
        for number in added {
            let place = Int(places[Int(number)])
            marks[place >> 6] |= 1 << UInt64(place & 63)
        }
        return [UInt32](unsafeUninitializedCapacity: added.count) { result, count in
            for word in marks.indices where marks[word] != 0 {
                var left = marks[word]
                while left != 0 {
                    result[count] = UInt32(truncatingIfNeeded: word << 6 + left.trailingZeroBitCount)
                    count += 1
                    left &= left - 1
                }
                marks[word] = 0
            }
        }
    }
}
