// Checks that a row's text, bytes and counterpart (the row with its key in a further table) are those that follow from
// its columns key and `stamp`. Other checks compare these columns with the version, so this one needs only the row.
import TidegaugeDriver

extension RowShape {
    /// Returns a sentence about a wrong value in a row, or nil. O(size of the row in bytes).
    func fault(in row: WholeRow) -> String? {
        let expected = whole(row.item)
        guard row != expected else { return nil }
        let name = "row key \(row.item.key) stamp \(row.item.stamp)"
        if row.text != expected.text {
            return "\(name) has the text \(Self.excerpt(row.text)), should be \(Self.excerpt(expected.text))"
        }
        if row.payload != expected.payload {
            let first = zip(row.payload, expected.payload).enumerated().first { $1.0 != $1.1 }?.offset
            let place = first.map { ", of which number \($0) is the first that is wrong" } ?? ""
            return "\(name) has \(row.payload.count) bytes\(place) (should be \(expected.payload.count))"
        }
        return "\(name) has a counterpart with \(Self.stamp(row)), should be \(Self.stamp(expected))"
    }

    private static func excerpt(_ text: String) -> String {
        text.count <= 20 ? "'\(text)'" : "'\(text.prefix(20))…' of \(text.count) characters"
    }

    private static func stamp(_ row: WholeRow) -> String { row.counterpartStamp.map { "stamp \($0)" } ?? "none" }
}

/// The result of checking several rows.
struct SeenRows: Sendable {
    let shape: RowShape
    private(set) var count = 0
    /// The fault of the first wrong row; nil if there is none.
    private(set) var fault: String?

    init(_ shape: RowShape) { self.shape = shape }

    mutating func look(at row: WholeRow) {
        count += 1
        if fault == nil { fault = shape.fault(in: row) }
    }
}

/// Checks all columns of rows after the load. The number of bytes is limited; the first collection is always checked.
struct WholeRowCheck {
    private static let byteBudget = 256 << 20

    private let shape: RowShape
    private var bytes = 0

    init(_ shape: RowShape) { self.shape = shape }

    /// - Parameters:
    ///   - what: the collection, for the violation's text.
    ///   - count: number of its rows.
    ///   - read: passes each row to `SeenRows.look(at:)`.
    /// - Returns: at most one violation; none if rows are plain or the check would exceed the limit of bytes.
    mutating func violations(
        _ what: String, count: Int, _ read: (inout SeenRows) throws -> Void
    ) rethrows -> [String] {
        let size = count * (shape.bytesPerRow + 1)
        guard !shape.isPlain, bytes == 0 || bytes + size <= Self.byteBudget else { return [] }
        bytes += size
        var seen = SeenRows(shape)
        try read(&seen)
        let miscount = seen.count == count ? nil : "\(seen.count) of \(count) rows can be read with all they hold"
        return [seen.fault ?? miscount].compactMap { $0.map { "whole rows: \(what): \($0)" } }
    }
}
