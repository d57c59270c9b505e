// Comparison of the two headers of a store's file with the record of its last flush. Pure.
//
// LMDB writes its headers in turn and begins at the one with the larger transaction. Headers have no checksum; the
// record has one. A header later than the record is normal if processes were killed before they flushed. Such a header
// is believed if the other one precedes it, and its list of free pages ends with its own transaction or cannot be read.

enum HeaderFinding: Equatable {
    /// The newest header is the one that was recorded.
    case recorded
    /// The newest header is of a later commit.
    case later
    /// The recorded header is not there as it was flushed, or the other one is damaged, and no later commit is known.
    case damaged
    /// A header is damaged, and it may have been of a later commit than any that is known.
    case unclear

    /// Returns whether two headers can be of successive commits, or copies of the one that a store was restored to. A
    /// commit writes the header with the parity of its transaction. Returns true if a header is missing, which LMDB
    /// refuses.
    /// - Parameter lastFreed: returns the last transaction in a header's list of free pages, or nil if that fails.
    static func areSuccessive(_ headers: [FileHeader], lastFreed: (MetaPage) -> UInt64?) -> Bool {
        guard headers.count == FlushRecord.places else { return true }
        let (even, odd) = (headers[0].meta.transaction, headers[1].meta.transaction)
        if even == odd { return headers[0].bytes == headers[1].bytes }
        guard even % 2 == 0, odd == even &+ 1 || even == odd &+ 1 else { return false }
        let (newest, other) = (headers[even > odd ? 0 : 1].meta, headers[even > odd ? 1 : 0].meta)
        if follows(other, newest, lastFreed: lastFreed) { return false }
        let freed = lastFreed(newest)
        // A list that ends with a later transaction is damaged itself.
        return freed.map { $0 >= newest.transaction } ?? true
    }

    /// Returns whether the header with the older number is of the commit after the newest, by its list of free pages.
    /// The pages of that list are whole, because no commit overwrites pages of the version before it. Reads one page
    /// per level.
    private static func follows(_ other: MetaPage, _ newest: MetaPage, lastFreed: (MetaPage) -> UInt64?) -> Bool {
        lastFreed(other) == newest.transaction &+ 1
    }

    /// - Parameter lastFreed: returns the last transaction in a header's list of free pages, or nil if that fails.
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
        // Headers are successive, so next to the recorded one or the one before it, none can be more than one commit
        // later.
        let other = sorted.count == FlushRecord.places ? sorted[0].meta.transaction : 0
        let freed = lastFreed(newest.meta)
        if other == newest.meta.transaction - 1, freed == nil || freed == newest.meta.transaction {
            self = .later
        } else {
            self = other == flushed || other == flushed &- 1 ? .damaged : .unclear
        }
    }
}
