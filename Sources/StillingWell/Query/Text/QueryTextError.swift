// Errors in the text of a query, with their position. Converted to `StoreError.invalidQuery`.

/// An error at an offset of the text, in Unicode scalars.
struct QueryTextFault: Error {
    let offset: Int
    let reason: String

    init(_ offset: Int, _ reason: String) {
        self.offset = offset
        self.reason = reason
    }
}

extension StoreError {
    /// Returns the error for a fault, with its line and column, both counted from 1.
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
