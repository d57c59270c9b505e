// The typed face of text conditions and ranges, in the manner of `isOne(of:)`:
//
//     items.where((\Item.title).hasPrefix("in", caseInsensitive: true) && (\Item.score).isBetween(1...5))

/// The types that text conditions apply to: `String` and `String?`. `nil` passes none of them.
public protocol StorableText: StorableValue {}
extension String: StorableText {}
extension Optional: StorableText where Wrapped == String {}

extension KeyPath where Root: StoredObject, Value: StorableText {
    /// Whether the property has `text` in it; everything has the empty text. Compares bytes, or with
    /// `caseInsensitive` after Unicode simple case folding.
    public func contains(_ text: String, caseInsensitive: Bool = false) -> Filter<Root> {
        filter(.contains, text, caseInsensitive)
    }

    /// Whether the property begins with `text`. On the leading sort column, and with regard to case, it costs as little
    /// as a range.
    public func hasPrefix(_ text: String, caseInsensitive: Bool = false) -> Filter<Root> {
        filter(.beginsWith, text, caseInsensitive)
    }

    /// Whether the property ends with `text`.
    public func hasSuffix(_ text: String, caseInsensitive: Bool = false) -> Filter<Root> {
        filter(.endsWith, text, caseInsensitive)
    }

    /// Whether the whole property is as `pattern` says: `*` stands for any text, `?` for one Unicode scalar, and a
    /// backslash before either, or before a backslash, for that character itself.
    public func isLike(_ pattern: String, caseInsensitive: Bool = false) -> Filter<Root> {
        filter(.like, pattern, caseInsensitive)
    }

    /// Whether the property equals `text`, without regard to case.
    public func isEqualIgnoringCase(to text: String) -> Filter<Root> { filter(.equals, text, true) }

    private func filter(_ match: TextMatch, _ text: String, _ foldsCase: Bool) -> Filter<Root> {
        let path = ColumnPath(self)
        let property = path.property(of: self, Value.self)
        let pattern = TextPattern(match, text, foldsCase: foldsCase)
        return Filter(.along(path.links, .column(path.column, .text(pattern), isOptional: property.isOptional)))
    }
}

extension KeyPath where Root: StoredObject, Value: StorableValue & Comparable {
    /// Whether the property is one of `range`, both ends included.
    public func isBetween(_ range: ClosedRange<Value>) -> Filter<Root> { isBetween(range.lowerBound, range.upperBound) }
}

extension KeyPath where Root: StoredObject, Value: StorableValue {
    /// Whether the property is at least `low` and at most `high`; `nil` never is.
    public func isBetween(_ low: Value, _ high: Value) -> Filter<Root> {
        Filter(.and([Filter(self, .greaterOrEqual, low).expression, Filter(self, .lessOrEqual, high).expression]))
    }
}
