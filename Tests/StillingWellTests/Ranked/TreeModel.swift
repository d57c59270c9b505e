// A brute-force model of a ranked tree: an array of rows, sorted by whole byte strings.
import StillingWellSeededRandom

@testable import StillingWell
@testable import StillingWellTree

struct ModelRow: Equatable {
    var bytes: [UInt8]
    var id: UInt64
    var stamp: UInt64

    var key: RankedKey { bytes.withUnsafeBytes { RankedKey(bytes: $0, id: id) } }
    var entry: RankedEntry { RankedEntry(key: key, stamp: stamp) }

    static func isBefore(_ left: ModelRow, _ right: ModelRow) -> Bool {
        if left.bytes != right.bytes { return left.bytes.lexicographicallyPrecedes(right.bytes) }
        return left.id < right.id
    }
}

/// A window given by bytes.
struct ModelWindow {
    var lower: [UInt8]?
    var upper: [UInt8]?

    var window: TreeWindow { TreeWindow(lower: lower.map(bound), upper: upper.map(bound)) }

    private func bound(_ bytes: [UInt8]) -> SortKeyBound { bytes.withUnsafeBytes { SortKeyBound(bytes: $0) } }

    func rows(of rows: [ModelRow]) -> [ModelRow] {
        rows.filter { row in
            if let lower, row.bytes.lexicographicallyPrecedes(lower) { return false }
            if let upper, !row.bytes.lexicographicallyPrecedes(upper) { return false }
            return true
        }
    }
}

/// Kinds of keys in a history. In each space no key is a proper prefix of another one.
enum KeySpace: CaseIterable {
    /// Few keys of 8 bytes, with many ties.
    case fewNumbers
    case manyNumbers
    /// Keys of 11 bytes. The first six are equal, and each of the others has one of two values.
    case longFixed
    /// Keys of 0 to 12 bytes with two values, and a terminator.
    case strings
    /// Numbers, ids and stamps around a change of their upper halves. Leaves are narrow, wide, or become wide.
    case halves

    /// Values before the first id and the first version.
    var firstID: UInt64 { self == .halves ? (1 << 32) - 20 : 0 }
    var firstVersion: UInt64 { self == .halves ? (3 << 32) - 4 : 0 }

    func key(_ random: inout SeededRandom) -> [UInt8] {
        switch self {
        case .fewNumbers: return [0, 0, 0, 0, 0, 0, 0, UInt8(random.below(6))]
        case .manyNumbers: return (0..<8).map { _ in UInt8(random.below(256)) }
        case .longFixed: return (0..<11).map { $0 < 6 ? 7 : UInt8(random.below(2)) }
        case .halves: return [0, 0, 0, UInt8(random.below(2)), 0, 0, 0, UInt8(random.below(40))]
        case .strings: return (0..<random.below(13)).map { _ in UInt8(1 + random.below(2)) } + [0]
        }
    }

    /// Makes a window. Its bounds are keys or prefixes of keys, or open.
    func window(_ random: inout SeededRandom) -> ModelWindow {
        func bound() -> [UInt8]? {
            if random.oneIn(4) { return nil }
            let key = key(&random)
            return random.oneIn(2) ? key : Array(key.prefix(1 + random.below(key.count)))
        }
        return ModelWindow(lower: bound(), upper: bound())
    }
}

/// The rows of a tree, and deleted rows that may come back.
struct TreeModel {
    private(set) var rows: [ModelRow] = []
    let space: KeySpace
    private var outside: [UInt64] = []
    private var nextID: UInt64

    init(space: KeySpace) {
        self.space = space
        nextID = space.firstID + 1
    }

    /// One row's part of an edit.
    struct Change {
        var old: ModelRow?
        var new: ModelRow?
    }

    /// Changes one random row and returns the change.
    mutating func change(version: UInt64, _ random: inout SeededRandom) -> Change {
        switch random.below(8) {
        case 0, 1: return add(version: version, &random)
        case 2 where !rows.isEmpty:
            let old = rows.remove(at: random.below(rows.count))
            outside.append(old.id)
            return Change(old: old, new: nil)
        case 3...5 where !rows.isEmpty:
            let old = rows.remove(at: random.below(rows.count))
            let new = ModelRow(bytes: space.key(&random), id: old.id, stamp: space.firstVersion + version)
            insert(new)
            return Change(old: old, new: new)
        case _ where !rows.isEmpty:
            let index = random.below(rows.count)
            let old = rows[index]
            rows[index].stamp = space.firstVersion + version
            return Change(old: old, new: rows[index])
        default: return add(version: version, &random)
        }
    }

    /// Adds a row, sometimes one that was deleted before.
    mutating func add(version: UInt64, _ random: inout SeededRandom) -> Change {
        var id = nextID
        if !outside.isEmpty && random.oneIn(2) {
            id = outside.remove(at: random.below(outside.count))
        } else {
            nextID += 1
        }
        let row = ModelRow(bytes: space.key(&random), id: id, stamp: space.firstVersion + version)
        insert(row)
        return Change(old: nil, new: row)
    }

    private mutating func insert(_ row: ModelRow) {
        rows.insert(row, at: rows.firstIndex { ModelRow.isBefore(row, $0) } ?? rows.count)
    }
}
