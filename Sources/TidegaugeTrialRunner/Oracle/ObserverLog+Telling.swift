// Compares the deliveries of two observers, so that one replay can check both, and describes a failed step.
import TidegaugeMeasure

extension ObserverLog {
    /// Equal for logs with the same deliveries.
    var contentHash: Int {
        var hasher = Hasher()
        hasher.combine(observer.query)
        hasher.combine(count)
        for (index, record) in records.enumerated() {
            hasher.combine(record.version)
            hasher.combine(record.count)
            hasher.combine(record.flags)
            if let delivered = delivered(index) {
                for list in [delivered.deletions, delivered.insertions, delivered.modifications] {
                    hasher.combine(bytes: UnsafeRawBufferPointer(list))
                }
            }
        }
        return hasher.finalize()
    }

    /// Compares the deliveries without their times. Returns false if index lists were lost.
    func tellsTheSame(as other: ObserverLog) -> Bool {
        guard observer.query == other.observer.query, count == other.count else { return false }
        return (0..<count).allSatisfy { index in
            let mine = self[index]
            let theirs = other[index]
            guard mine.version == theirs.version, mine.count == theirs.count, mine.flags == theirs.flags,
                mine.moveCount == theirs.moveCount, let a = delivered(index), let b = other.delivered(index)
            else { return false }
            return a.deletions.elementsEqual(b.deletions) && a.insertions.elementsEqual(b.insertions)
                && a.modifications.elementsEqual(b.modifications)
        }
    }

    /// Describes the delivery and the rows near the index, before the step and as they should be after it.
    /// - Parameters:
    ///   - before: the collection before the callback.
    ///   - after: the correct collection after the callback.
    func excerpt(_ index: Int, from before: OrderedRows, to after: OrderedRows, around place: Int?) -> String {
        let delivered = delivered(index)
        var lines: [String] = []
        if let delivered {
            lines.append("delivered: deletions \(Self.some(delivered.deletions))")
            lines.append("insertions \(Self.some(delivered.insertions))")
            lines.append("modifications \(Self.some(delivered.modifications))")
            lines.append("\(delivered.moveCount) moves, \(delivered.count) rows")
        }
        // Uses the first index of the change set if no index is given.
        let named = delivered?.deletions.first ?? delivered?.insertions.first ?? delivered?.modifications.first
        let place = place ?? named.map { Int($0) } ?? 0
        lines.append("before: \(Self.rows(before, around: place))")
        lines.append("should be: \(Self.rows(after, around: place))")
        return lines.joined(separator: ", ")
    }

    /// Returns text such as `3 rows, 0...2 are 7 4 9`.
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
