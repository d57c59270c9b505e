// What rows are sectioned by: a column, or a function of one. It comes first in the tree's sort key, so a section is a
// run of rows, and the function runs where keys are made: once for a row that changed, on the thread that keeps the tree.
import StillingWellBasis

/// A function of one column whose values are section keys. Known by its identity: two closures cannot be compared.
final class SectionFunction: Sendable {
    /// What comes out of it.
    let type: ColumnType
    let isOptional: Bool
    private let apply: @Sendable (RowReader) -> ColumnValue

    /// - Parameter property: what the column is called in an error. Where it has what is no value of its type, the
    ///   process ends: there is no section for it, and nobody whom the thread that keeps the tree could tell.
    init<Value: StorableValue, Key: StorableValue>(
        column: Int, of property: String, _ function: @escaping @Sendable (Value) -> Key
    ) {
        type = Key._columnType
        isOptional = Key._isOptional
        apply = { row in
            do throws(UnknownValue) {
                return function(try Value._read(row, column))._columnValue
            } catch {
                // Whoever makes the tree looks whether all could be read.
                if error.failure != nil { return .null }
                stopProgram("\(error.error(of: property))")
            }
        }
    }

    func callAsFunction(_ row: RowReader) -> ColumnValue { apply(row) }
}

extension SectionFunction: Hashable {
    static func == (left: SectionFunction, right: SectionFunction) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

struct SectionTerm: Sendable, Hashable {
    var term: SortTerm
    /// nil where the column's value is the key.
    var function: SectionFunction?

    init(term: SortTerm, function: SectionFunction? = nil) {
        self.term = term
        self.function = function
    }

    /// Section keys as parts of sort keys.
    func layout(_ table: TableSchema) -> SortKeyLayout {
        guard let function else { return SortKeyLayout([term], table) }
        return SortKeyLayout([.init(type: function.type, isOptional: function.isOptional, ascending: term.ascending)])
    }
}
