// Comparison of the two headers of a store's file with the record of its last flush. Pure.
//
// The engine writes its headers in turn and begins at the one with the larger transaction. Their bytes carry no checksum, and the
// record has one. A header of a later transaction than the record's is expected where processes were killed before they flushed; it
// cannot be compared with anything but the number that its own list of free pages ends with.

enum HeaderFinding: Equatable {
    /// The newest header is the one that was recorded.
    case recorded
    /// The newest header is of a later commit.
    case later
    /// The recorded header is not there as it was flushed, or the other one is damaged, and no later commit is known.
    case damaged
    /// A header is damaged, and it may have been of a later commit than any that is known.
    case unclear

    /// Whether two headers can be those of successive commits, or of the one that a store began with again. Each commit writes the
    /// header whose number leaves the same remainder by 2 as its own. True if one of them is none, which the engine refuses.
    /// - Parameter lastFreed: the last transaction in the list of free pages of a header; nil if that cannot be read.
    static func areSuccessive(_ headers: [FileHeader], lastFreed: (MetaPage) -> UInt64?) -> Bool {
        guard headers.count == FlushRecord.places else { return true }
        let (even, odd) = (headers[0].meta.transaction, headers[1].meta.transaction)
        if even == odd { return headers[0].bytes == headers[1].bytes }
        guard even % 2 == 0, odd == even &+ 1 || even == odd &+ 1 else { return false }
        let (newest, other) = (headers[even > odd ? 0 : 1].meta, headers[even > odd ? 1 : 0].meta)
        if follows(other, newest, lastFreed: lastFreed) { return false }
        let freed = lastFreed(newest)
        // A list that ends later is damaged itself.
        return freed.map { $0 >= newest.transaction } ?? true
    }

    /// Whether a header whose number says that it is of an older commit is of the commit after the newest: its list of free pages
    /// says so. The pages of that list are whole, because no commit writes over pages of the version before it. Reads one page for
    /// each level of the list.
    private static func follows(_ other: MetaPage, _ newest: MetaPage, lastFreed: (MetaPage) -> UInt64?) -> Bool {
        lastFreed(other) == newest.transaction &+ 1
    }

    /// - Parameter lastFreed: the last transaction in the list of free pages of a header; nil if that cannot be read.
    init(_ headers: [FileHeader], _ record: FlushRecord, lastFreed: (MetaPage) -> UInt64?) {
        let flushed = record.transaction
        let sorted = headers.sorted { $0.meta.transaction < $1.meta.transaction }
        guard let newest = sorted.last else {
            self = .damaged
            return
        }
        if newest.meta.transaction >= flushed, sorted.count == FlushRecord.places,
            Self.follows(sorted[0].meta, newest.meta, lastFreed: lastFreed)
        {
            self = .unclear
            return
        }
        if newest.meta.transaction <= flushed {
            let isSame = headers.allSatisfy { $0.meta.transaction < flushed || $0.bytes == record.header }
            self =
                headers.count == FlushRecord.places && newest.meta.transaction == flushed && isSame
                ? .recorded : .damaged
            return
        }
        // Headers follow each other, so beside the recorded one or the one before it there can be none that is later by more than one.
        let other = sorted.count == FlushRecord.places ? sorted[0].meta.transaction : 0
        let freed = lastFreed(newest.meta)
        if other == newest.meta.transaction - 1, freed == nil || freed == newest.meta.transaction {
            self = .later
        } else {
            self = other == flushed || other == flushed &- 1 ? .damaged : .unclear
        }
    }
}
