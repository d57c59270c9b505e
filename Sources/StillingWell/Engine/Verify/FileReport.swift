// What a look at a store's file has found.
import StillingWellTree

/// What of a store's file is what was stored there, and what is damaged.
public struct FileReport: Sendable {
    /// What one class has; the elements of a list property have a table of their own, named after class and property.
    public struct Table: Sendable {
        /// Of the class.
        public let name: String
        /// How many objects are as they were stored.
        public internal(set) var wholeObjects = 0
        /// Objects whose rows are not; those on a page that cannot be read are not known by their ids.
        public internal(set) var damagedObjects: [ObjectID] = []
    }

    /// The version that was looked at; 0 where the log does not tell.
    public internal(set) var version: UInt64 = 0
    /// In the order in which the file got them.
    public internal(set) var tables: [Table] = []
    /// What is wrong, a clause each, with the page of the file where one is to blame.
    public internal(set) var damage: [String] = []
    /// Pages of the file that hold something.
    public internal(set) var usedPages = 0
    /// Pages that the next writes use again.
    public internal(set) var freePages = 0

    /// Whether nothing was found.
    public var isWhole: Bool { damage.isEmpty }
}
