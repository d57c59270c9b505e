// What the engine calls the parts of a table in the file.

enum EngineName {
    /// The rows of the table with a number.
    static func rows(_ table: UInt32) -> String { "rows.\(table)" }
    /// Its primary keys.
    static func keys(_ table: UInt32) -> String { "key.\(table)" }
    /// The orders of the lists whose elements it has.
    static func ranks(_ table: UInt32) -> String { "ranks.\(table)" }
    /// The values that lie apart from their rows. Not the last name, which is the one that the engine finds at once: that is the
    /// rows', which every commit looks up.
    static let values = "large"
}
