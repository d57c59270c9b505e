// Rows gathered for trees that have one order. The key of a row is made once and all are sorted once, however many of the trees
// have it. One thread.

struct GatheredRows {
    private let table: Table
    private var encoder: SortKeyEncoder
    private let isNumeric: Bool
    private var keys = GatheredKeys()
    /// Used instead of `keys` where keys are numbers and the tree is its rows alone: less than half the size.
    private var numbers: [RankedNumber] = []

    /// - Parameter key: that of any of the trees.
    init(_ key: TreeKey, _ table: Table) {
        self.table = table
        encoder = SortKeyEncoder(key, table.schema)
        isNumeric = encoder.isNumeric && key.distinct.isEmpty && key.section == nil
    }

    /// Adds a row behind those that were added before.
    @inline(__always)
    mutating func add(_ id: ObjectID, _ row: RowReader, _ source: any RowSource) {
        if isNumeric {
            numbers.append(RankedNumber(prefix: encoder.key(row, id, source, table.links).prefix, id: id.rawValue))
        } else {
            keys.add(id) { encoder.append(row, id, source, table.links, to: &$0) }
        }
    }

    /// Brings the rows into order.
    /// - Returns: by place in that order, how many rows had been added before.
    mutating func sort() -> [UInt32] {
        if isNumeric {
            let order = NumberSort.order(of: numbers)
            numbers = order.map { numbers[Int($0)] }
            return order
        }
        keys.sort()
        return keys.order
    }

    /// A tree of all rows, which are in order.
    func tree(_ form: TreeForm, stamp: UInt64) -> RankedTree {
        if isNumeric { return numbers.withUnsafeBufferPointer { RankedTree(sorted: $0, stamp: stamp) } }
        return keys.withKeys(keys.order) { form.tree(sorted: $0, stamp: stamp) }
    }

    /// A tree of some of the rows, which are in order.
    /// - Parameter places: ascending.
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

/// Which of the gathered rows are a tree's. Its memory is freed by who has it: an array asks at every element whether it is the only
/// one, and of a hundred trees most of the time is spent here.
struct ChosenRows {
    private static let fewest = 64

    private var base: UnsafeMutablePointer<UInt32>?
    private var count = 0
    private var capacity = 0

    /// How many rows had been added before each of them.
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

    /// Nothing is chosen then.
    mutating func free() {
        base?.deallocate()
        (base, count, capacity) = (nil, 0, 0)
    }

    /// Their places in the order of all, ascending. O(rows of all / 64 + chosen), or O(chosen log chosen) for few.
    /// - Parameters:
    ///   - places: of each row by how many had been added before it.
    ///   - marks: a bit for each row, all of them 0, and so they are left.
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
