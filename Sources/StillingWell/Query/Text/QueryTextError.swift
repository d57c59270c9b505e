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
