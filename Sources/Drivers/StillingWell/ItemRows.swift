// The plain rows that writers change, as StillingWell models: one class per kind of primary key. Rows with text and
// bytes are in ShapedRows.swift.
import Foundation
import StillingWell
import TidegaugeDriver
import TidegaugeStatistics

/// A model of `Item`.
package protocol DrivenRow: StoredObject {
    associatedtype PrimaryKey: StorableValue

    /// Makes an object that is not stored yet.
    init(_ item: Item)
    var group: Int { get }
    var score: Int { get set }
    var stamp: Int { get set }
    var item: Item { get }

    static func primaryKey(_ number: Int64) -> PrimaryKey
    /// Column with the key as a number; nil if keys are not numbers.
    static var numbers: KeyPath<Self, Int>? { get }
    /// Column of the rows' texts, if there is one.
    static var texts: KeyPath<Self, String>? { get }
}

extension DrivenRow {
    package static var texts: KeyPath<Self, String>? { nil }

    /// Returns a condition as a filter.
    static func filter(_ condition: RowCondition) throws -> Filter<Self> {
        switch condition.test {
        case .score(let values): return (\Self.score).in(values.lazy.map { Int($0) })
        case .scoreEither(let values):
            var filter: Filter<Self> = \.score == Int(values[0])
            for value in values.dropFirst() { filter = filter || \.score == Int(value) }
            return filter
        case .text(let values): return try textColumn().in(values)
        case .textStarts(let word, let ignoresCase):
            return try textColumn().hasPrefix(word, caseInsensitive: ignoresCase)
        case .textContains(let word, let ignoresCase):
            return try textColumn().contains(word, caseInsensitive: ignoresCase)
        }
    }

    private static func textColumn() throws -> KeyPath<Self, String> {
        guard let texts else { throw DriverUnavailable("its rows have no texts (write 'dataset.text_characters')") }
        return texts
    }

    /// Makes a change within a write of the connection.
    /// - Parameter told: called with the changed row, after the change. For a deletion, called before it.
    package static func apply(
        _ change: Change, _ connection: Connection, told: (Self) throws -> Void = { _ in }
    ) throws {
        if change.operation == .insert {
            let row = Self(change.item)
            try connection.add(row)
            return try told(row)
        }
        guard let row = try connection.object(Self.self, forPrimaryKey: primaryKey(change.item.key)) else {
            throw MissingItem(key: change.item.key)
        }
        if change.operation == .delete {
            try told(row)
            return try connection.delete(row)
        }
        if change.operation == .updateScore { row.score = Int(change.item.score) }
        row.stamp = Int(change.item.stamp)
        try told(row)
    }

    /// Returns the objects of `all` that a query finds, sorted by score if the query asks for that.
    package static func results(_ query: Query, _ all: Results<Self>) -> Results<Self> {
        var results = all
        if let group = query.group { results = results.where(\.group == Int(group)) }
        if let scores = query.scores {
            results = results.where(\.score >= Int(scores.lowerBound) && \.score < Int(scores.upperBound))
        }
        if let keys = query.keys, let numbers {
            results = results.where(numbers >= Int(keys.lowerBound))
            if keys.upperBound < .max { results = results.where(numbers < Int(keys.upperBound)) }
        }
        return switch query.order {
        case .none, .list: results
        case .scoreAscending: results.sorted(by: \.score)
        case .scoreDescending: results.sorted(by: \.score, ascending: false)
        }
    }
}

/// The row of most scenarios.
package final class ItemRow: StoredObject, DrivenRow {
    @Stored(.primaryKey) package var key = 0
    @Stored package var group = 0
    @Stored package var score = 0
    @Stored package var stamp = 0

    package convenience init(_ item: Item) {
        self.init()
        key = Int(item.key)
        group = Int(item.group)
        score = Int(item.score)
        stamp = Int(item.stamp)
    }

    package var item: Item { Item(key: Int64(key), group: Int64(group), score: Int64(score), stamp: Int64(stamp)) }

    package static func primaryKey(_ number: Int64) -> Int { Int(number) }
    package static var numbers: KeyPath<ItemRow, Int>? { \ItemRow.key }
}

/// The same row with a key of 16 bytes.
final class UUIDItemRow: StoredObject, DrivenRow {
    @Stored(.primaryKey) var id = zeroUUID
    @Stored var group = 0
    @Stored var score = 0
    @Stored var stamp = 0

    convenience init(_ item: Item) {
        self.init()
        id = Self.primaryKey(item.key)
        group = Int(item.group)
        score = Int(item.score)
        stamp = Int(item.stamp)
    }

    var item: Item {
        let number = withUnsafeBytes(of: id.uuid) {
            Int64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: Int64.self))
        }
        return Item(key: number, group: Int64(group), score: Int64(score), stamp: Int64(stamp))
    }

    /// Eight hash bytes, which determine the order, then the number, which can be read back.
    static func primaryKey(_ number: Int64) -> UUID {
        let noise = SplitMix64.mix(UInt64(bitPattern: number) &+ SplitMix64.step)
        var key = zeroUUID.uuid
        withUnsafeMutableBytes(of: &key) { bytes in
            bytes.storeBytes(of: noise.bigEndian, toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: number.bigEndian, toByteOffset: 8, as: Int64.self)
        }
        return UUID(uuid: key)
    }

    static var numbers: KeyPath<UUIDItemRow, Int>? { nil }
}

/// A default value that needs no random bytes.
private let zeroUUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
