// The part of a broken step that a reader needs: what was delivered, and the rows near the index in question.
import Measure

struct Excerpt {
    let text: String

    /// - Parameter rows: the collection as it should be after the callback.
    init(_ log: ObserverLog, _ index: Int, _ rows: OrderedRows, around place: Int?) {
        var lines: [String] = []
        if let delivered = log.delivered(index) {
            lines.append("delivered: deletions \(Self.some(delivered.deletions))")
            lines.append("insertions \(Self.some(delivered.insertions))")
            lines.append("modifications \(Self.some(delivered.modifications))")
            lines.append("\(delivered.moveCount) moves, \(delivered.count) rows")
        }
        if let place, rows.count > 0 {
            let near = max(0, place - 2)..<min(rows.count, place + 3)
            if !near.isEmpty {
                let keys = near.map { String(rows[$0].key) }.joined(separator: " ")
                lines.append("rows \(near.lowerBound)...\(near.upperBound - 1) should be \(keys)")
            }
        }
        text = lines.isEmpty ? "" : " (\(lines.joined(separator: ", ")))"
    }

    private static func some(_ list: UnsafeBufferPointer<Int32>) -> String {
        let shown = list.prefix(8).map { String($0) }.joined(separator: " ")
        return list.count > 8 ? "[\(shown) … \(list.count) in all]" : "[\(shown)]"
    }
}
