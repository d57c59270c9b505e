// Text conditions and ranges:
//
//     items.where((\Item.title).hasPrefix("in", caseInsensitive: true) && (\Item.score).isBetween(1...5))

/// A type that text conditions apply to: `String` and `String?`. `nil` passes none of them.
public protocol StorableText: StorableValue {}
extension String: StorableText {}
extension Optional: StorableText where Wrapped == String {}

extension KeyPath where Root: StoredObject, Value: StorableText {
    /// Passes if the property contains `text`, which may be empty. Compares bytes, after Unicode simple case folding if
    /// `caseInsensitive`.
    public func contains(_ text: String, caseInsensitive: Bool = false) -> Filter<Root> {
        filter(.contains, text, caseInsensitive)
    }

    /// Passes if the property begins with `text`. A case-sensitive test of the leading sort column costs no more than a
    /// range.
    public func hasPrefix(_ text: String, caseInsensitive: Bool = false) -> Filter<Root> {
        filter(.beginsWith, text, caseInsensitive)
    }

    /// Passes if the property ends with `text`.
    public func hasSuffix(_ text: String, caseInsensitive: Bool = false) -> Filter<Root> {
        filter(.endsWith, text, caseInsensitive)
    }

    /// Passes if the whole property matches `pattern`. `*` matches any text and `?` one Unicode scalar. A backslash
    /// makes the next character stand for itself, such as `*`, `?` or a backslash.
    public func isLike(_ pattern: String, caseInsensitive: Bool = false) -> Filter<Root> {
        filter(.like, pattern, caseInsensitive)
    }

    /// Passes if the property equals `text`, ignoring case.
    public func isEqualIgnoringCase(to text: String) -> Filter<Root> { filter(.equals, text, true) }

    private func filter(_ match: TextMatch, _ text: String, _ foldsCase: Bool) -> Filter<Root> {
        let path = ColumnPath(self)
        let property = path.property(of: self, Value.self)
        let pattern = TextPattern(match, text, foldsCase: foldsCase)
        return Filter(.along(path.links, .column(path.column, .text(pattern), isOptional: property.isOptional)))
    }
}

extension KeyPath where Root: StoredObject, Value: StorableValue & Comparable {
    /// Passes if the property is in `range`, both ends included.
    public func isBetween(_ range: ClosedRange<Value>) -> Filter<Root> {
        Filter(
            .and([
                Filter(self, .greaterOrEqual, range.lowerBound).expression,
                Filter(self, .lessOrEqual, range.upperBound).expression,
            ]))
    }
}
