// Names of LMDB's tables.

enum EngineName {
    /// Rows of the table with this number.
    static func rows(_ table: UInt32) -> String { "rows.\(table)" }
    /// Primary keys of the table with this number.
    static func keys(_ table: UInt32) -> String { "key.\(table)" }
    /// List orders, by the table of the lists' elements.
    static func ranks(_ table: UInt32) -> String { "ranks.\(table)" }
    /// Large values of all tables. This name must not sort last: LMDB finds the last name fastest, and every commit
    /// looks up rows.
    static let values = "large"
}
