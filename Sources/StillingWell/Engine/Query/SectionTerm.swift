// Sections of rows, by a column or a function of one. The section precedes the tree's sort key, so it is a run of rows.
// The function runs where keys are made, on the thread that fills or updates the tree.
import StillingWellBasis

/// A function of one column that returns section keys. Compared by identity, because closures cannot be compared.
final class SectionFunction: Sendable {
    /// Type of the section keys.
    let type: ColumnType
    let isOptional: Bool
    private let apply: @Sendable (RowReader) -> ColumnValue

    /// - Parameter property: name of the column in an error. The process ends if the column has a value that is invalid
    ///   for its type: the row then has no section, and the thread that updates the tree cannot report an error.
    init<Value: StorableValue, Key: StorableValue>(
        column: Int, of property: String, _ function: @escaping @Sendable (Value) -> Key
    ) {
        type = Key._columnType
        isOptional = Key._isOptional
        apply = { row in
            do throws(UnknownValue) {
                return function(try Value._read(row, column))._columnValue
            } catch {
                // The maker of the tree checks for failed reads.
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
    /// Nil if the column's value is the section key.
    var function: SectionFunction?

    init(term: SortTerm, function: SectionFunction? = nil) {
        self.term = term
        self.function = function
    }

    /// Layout of section keys in sort keys.
    func layout(_ table: TableSchema) -> SortKeyLayout {
        guard let function else { return SortKeyLayout([term], table) }
        return SortKeyLayout([.init(type: function.type, isOptional: function.isOptional, ascending: term.ascending)])
    }
}
