// Updates of observed objects, found by upkeep and gathered until the connection takes them.

/// Changes of one observed object by one or several commits.
struct ObjectChangeEntry {
    /// Last version of these commits.
    var version: UInt64
    var columns: UInt64
    /// Bit i: backlink property i has other objects.
    var backlinks: UInt64 = 0
    var isDeletion: Bool
    /// Observers that a write has excluded from the change.
    var skippedBy: [any SilencedObserver] = []
}

struct ObjectUpdate {
    let object: ObjectHandle
    private(set) var entries: [ObjectChangeEntry]
    /// Error if further changes of the object cannot be read.
    private(set) var failure: StoreError?

    init(_ object: ObjectHandle, _ entries: [ObjectChangeEntry]) {
        self.object = object
        self.entries = []
        for entry in entries { add(entry) }
    }

    init(_ object: ObjectHandle, failure: StoreError) {
        self.object = object
        entries = []
        self.failure = failure
    }

    /// Adds a later update. Entries that exclude no observer are merged, so a slow observer costs little.
    mutating func add(_ later: ObjectUpdate) {
        for entry in later.entries { add(entry) }
        failure = failure ?? later.failure
    }

    private mutating func add(_ entry: ObjectChangeEntry) {
        if let last = entries.last, last.skippedBy.isEmpty, entry.skippedBy.isEmpty, !last.isDeletion {
            entries[entries.count - 1] = ObjectChangeEntry(
                version: entry.version, columns: last.columns | entry.columns,
                backlinks: last.backlinks | entry.backlinks, isDeletion: entry.isDeletion)
        } else {
            entries.append(entry)
        }
    }
}

/// The inverse property of a link or a list of links.
struct Backlink: Sendable {
    let name: String
    let edge: LinkEdge

    init(name: String, edge: LinkEdge) {
        self.name = name
        self.edge = edge
    }
}
