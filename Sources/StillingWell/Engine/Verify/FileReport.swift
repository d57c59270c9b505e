// Result of verifying a store's file.
import StillingWellTree

/// Whole and damaged content of a store's file.
public struct FileReport: Sendable {
    /// Content of one class. Elements of a list property have a table of their own, named after class and property.
    public struct Table: Sendable {
        /// Name of the class.
        public let name: String
        /// Number of objects that are as they were stored.
        public internal(set) var wholeObjects = 0
        /// Objects with damaged rows. Ids of objects on a page that cannot be read are not known.
        public internal(set) var damagedObjects: [ObjectID] = []
    }

    /// Version that was verified; 0 if no entry of the change log can be read.
    public internal(set) var version: UInt64 = 0
    /// Tables in the order of their creation.
    public internal(set) var tables: [Table] = []
    /// Descriptions of the damage, a clause each. Some name a page of the file.
    public internal(set) var damage: [String] = []
    /// Number of pages in use that could be read, without the two headers.
    public internal(set) var usedPages = 0
    /// Number of pages that later writes can reuse.
    public internal(set) var freePages = 0

    /// Whether no damage was found.
    public var isWhole: Bool { damage.isEmpty }
}
