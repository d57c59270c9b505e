// What is wrong with the text of a query, and where. Becomes `StoreError.invalidQuery`.

/// A fault at one place of a text, which is counted in Unicode scalars.
struct QueryTextFault: Error {
    let offset: Int
    let reason: String

    init(_ offset: Int, _ reason: String) {
        self.offset = offset
        self.reason = reason
    }
}

extension StoreError {
    /// The error for a fault, with its place as line and column, both from 1.
    static func invalidQuery(_ fault: QueryTextFault, in text: [Unicode.Scalar]) -> StoreError {
        let before: ArraySlice<Unicode.Scalar> = text.prefix(fault.offset)
        let lineStart = before.lastIndex(of: "\n").map { $0 + 1 } ?? 0
        let rest = text[lineStart...]
        var line = String.UnicodeScalarView()
        for scalar in rest.prefix(while: { $0 != "\n" }) { line.append(scalar) }
        let breaks = before.filter { $0 == "\n" }.count
        return .invalidQuery(
            text: String(line), line: breaks + 1, column: before.count - lineStart + 1, reason: fault.reason)
    }
}

enum NearestName {
    /// A hint to end a sentence with; empty where nothing is near.
    static func hint(for word: String, among known: [String]) -> String {
        let reach = max(1, min(3, word.count / 3))
        let wanted = Array(word.lowercased())
        let near = known.map { (distance(wanted, Array($0.lowercased())), $0) }.filter { $0.0 <= reach }
        return near.min { $0 < $1 }.map { " (did you mean '\($0.1)'?)" } ?? ""
    }

    /// Insertions, deletions, substitutions and swaps of neighbours that lead from one word to the other (optimal string
    /// alignment), in the last rows of the table. Of words that are no slip of the finger the length alone is compared.
    private static func distance(_ a: [Character], _ b: [Character]) -> Int {
        guard a.count <= 64, b.count <= 64 else { return abs(a.count - b.count) + 64 }
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
                row.append(cost)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
