// The part of a broken step that a reader needs: what was delivered, and the rows near the index in question, before the step
// and as they should be after it.
import Measure

extension ObserverLog {
    /// - Parameters:
    ///   - before: the collection that the callback's indices start from.
    ///   - after: as it should be after the callback.
    func excerpt(_ index: Int, from before: OrderedRows, to after: OrderedRows, around place: Int?) -> String {
        let delivered = delivered(index)
        var lines: [String] = []
        if let delivered {
            lines.append("delivered: deletions \(Self.some(delivered.deletions))")
            lines.append("insertions \(Self.some(delivered.insertions))")
            lines.append("modifications \(Self.some(delivered.modifications))")
            lines.append("\(delivered.moveCount) moves, \(delivered.count) rows")
        }
        // Where no one index is meant, the first that the callback names.
        let named = delivered?.deletions.first ?? delivered?.insertions.first ?? delivered?.modifications.first
        let place = place ?? named.map { Int($0) } ?? 0
        lines.append("before: \(Self.rows(before, around: place))")
        lines.append("should be: \(Self.rows(after, around: place))")
        return lines.joined(separator: ", ")
    }

    /// `3 rows, 0...2 are 7 4 9`.
    private static func rows(_ rows: OrderedRows, around place: Int) -> String {
        let near = max(0, min(place, rows.count) - 2)..<min(rows.count, place + 3)
        guard !near.isEmpty else { return "\(rows.count) rows" }
        let keys = near.map { String(rows[$0].key) }.joined(separator: " ")
        return "\(rows.count) rows, \(near.lowerBound)...\(near.upperBound - 1) are \(keys)"
    }

    private static func some(_ list: UnsafeBufferPointer<Int32>) -> String {
        let shown = list.prefix(8).map { String($0) }.joined(separator: " ")
        return list.count > 8 ? "[\(shown) … \(list.count) in all]" : "[\(shown)]"
    }
}
