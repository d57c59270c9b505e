// News of observed objects: what upkeep has found in the log, gathered until the connection takes it.

/// What a commit, or several, did to one observed object.
struct ObjectChangeEntry {
    /// The last of the versions in it.
    var version: UInt64
    var columns: UInt64
    /// Bit i: the objects of backlink property i are others.
    var backlinks: UInt64 = 0
    var isDeletion: Bool
    /// Observers that are not to hear of it.
    var skippedBy: [any SilencedObserver] = []
}

/// News of one observed object.
struct ObjectUpdate {
    let object: ObjectHandle
    private(set) var entries: [ObjectChangeEntry]
    /// Why nobody can say what else became of the object.
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

    /// Adds later news. What nobody skips is one entry, so a slow observer costs no more than its skips.
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

/// A property that is the way back along a link or a list of links.
struct Backlink: Sendable {
    let name: String
    let edge: LinkEdge

    init(name: String, edge: LinkEdge) {
        self.name = name
        self.edge = edge
    }
}
