// Whether rows hold what the commit wrote that their stamp names: text, bytes and counterpart. That key and stamp are those of
// the version is checked elsewhere, so that a row answers for the rest by itself.
import TidegaugeDriver

extension RowShape {
    /// What is wrong inside a row, as a sentence; nil where all is right. O(its bytes).
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

/// What was seen of some rows.
struct SeenRows: Sendable {
    let shape: RowShape
    private(set) var count = 0
    /// Of the first that is not what it should be.
    private(set) var fault: String?

    init(_ shape: RowShape) { self.shape = shape }

    mutating func look(at row: WholeRow) {
        count += 1
        if fault == nil { fault = shape.fault(in: row) }
    }
}

/// Looks at all that rows hold once the load is over. Reading is bounded, as `Convergence` is by rows here by bytes; the first
/// of everything is looked at in any case.
struct WholeRowCheck {
    private static let byteBudget = 256 << 20

    private let shape: RowShape
    private var bytes = 0

    init(_ shape: RowShape) { self.shape = shape }

    /// - Parameters:
    ///   - what: whose rows they are.
    ///   - count: how many there are.
    ///   - read: looks at each.
    /// - Returns: a violation at most; none where rows are plain.
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
