// Which rows have been checked against their checksum in this process: a bit for each object id, so that a second read costs the
// test of the bit.
//
// A bit is about the row as it is at the newest version that this process knows of (`CheckedVersions.synced`). What others commit
// takes the bits of its rows away before a snapshot of it is anybody's. One that stands before the last of such commits may see an
// older image of a row than the bit is about: it sets none and trusts none. Own commits leave both images checked, the one that
// was read to be changed and the one that was written, so they change nothing.
//
// Bits and versions are atomics; `lock` guards that versions move on one by one, and making room for bits.
import Glibc
import StillingWellSync
import Synchronization

/// The rows of one table that have been checked.
///
/// Unchecked because of the pointers: to words that are atomic, and stay until the end.
final class CheckedRows: @unchecked Sendable {
    private struct Word: ~Copyable {
        let bits = Atomic<UInt64>(0)
    }
    private struct Address: ~Copyable {
        let value = Atomic<UInt>(0)
    }

    /// Ids in the first piece of memory; each further one is for as many as all before it, so there is never twice as much as needed.
    private static let firstShift: UInt64 = 12
    /// Rows of greater ids are checked at every read.
    private static let limit: UInt64 = 1 << 36
    private static let pieceCount = 25
    /// Ids that are asked for at once: more than a page has rows, so that some may be missing between them.
    private static let maxSpan: UInt64 = 512

    /// Where the words of a piece would begin if it began with id 0.
    private let pieces: UnsafeMutablePointer<Address>
    private let versions: CheckedVersions
    /// That of `versions`: reached without counting a reference.
    private let foreign: UnsafeMutablePointer<Atomic<UInt64>>

    init(_ versions: CheckedVersions) {
        self.versions = versions
        foreign = versions.foreign
        pieces = .allocate(capacity: Self.pieceCount)
        for index in 0..<Self.pieceCount { (pieces + index).initialize(to: Address()) }
    }

    deinit {
        for piece in 0..<Self.pieceCount {
            if let words = words(piece) { free(words + Self.firstWord(piece)) }
        }
        pieces.deinitialize(count: Self.pieceCount)
        pieces.deallocate()
    }

    @inline(__always)
    private static func piece(_ id: UInt64) -> Int { UInt64.bitWidth - (id >> firstShift).leadingZeroBitCount }

    private static func firstWord(_ piece: Int) -> Int { piece == 0 ? 0 : 1 << (Int(firstShift) - 7 + piece) }

    @inline(__always)
    private func words(_ piece: Int) -> UnsafeMutablePointer<Word>? {
        UnsafeMutablePointer(bitPattern: pieces[piece].value.load(ordering: .acquiring))
    }

    /// Whether the row is checked that a snapshot of `version` has.
    @inline(__always)
    func contains(_ id: UInt64, at version: UInt64) -> Bool {
        guard id < Self.limit, let words = words(Self.piece(id)) else { return false }
        return words[Int(id >> 6)].bits.load(ordering: .acquiring) & (1 << (id & 63)) != 0
            && isTrusted(at: version)
    }

    /// Asked after the bits were read: bits that are newer than what `version` has come with a foreign commit that is seen here.
    @inline(__always)
    private func isTrusted(at version: UInt64) -> Bool { version >= foreign.pointee.load(ordering: .acquiring) }

    /// Whether all rows are checked that a snapshot of `version` has from one id to another. False, too, where they are far apart.
    @inline(__always)
    func contains(_ first: UInt64, through last: UInt64, at version: UInt64) -> Bool {
        guard last < Self.limit, last &- first < Self.maxSpan, case let piece = Self.piece(last),
            Self.piece(first) == piece, let words = words(piece)
        else { return false }
        var word = Int(first >> 6)
        let lastWord = Int(last >> 6)
        var missing: UInt64 = 0
        var mask = UInt64.max &<< first
        while word < lastWord {
            missing |= ~words[word].bits.load(ordering: .acquiring) & mask
            word &+= 1
            mask = .max
        }
        mask &= .max &>> ~last
        return (missing | ~words[word].bits.load(ordering: .acquiring) & mask) == 0 && isTrusted(at: version)
    }

    /// Notes that all rows have been checked that a snapshot of `version` has from one id to another.
    /// - Returns: false where they are far apart, and nothing is noted.
    func insert(_ first: UInt64, through last: UInt64, at version: UInt64) -> Bool {
        guard last < Self.limit, last - first < Self.maxSpan else { return false }
        guard isTrusted(at: version) else { return true }
        for id in first...last where id == first || id & 63 == 0 {
            guard let words = words(Self.piece(id)) ?? makeWords(Self.piece(id)) else { return true }
            let mask = UInt64.max &<< id & (id >> 6 == last >> 6 ? .max &>> ~last : .max)
            words[Int(id >> 6)].bits.bitwiseOr(mask, ordering: .sequentiallyConsistent)
        }
        // As for one.
        if version < foreign.pointee.load(ordering: .sequentiallyConsistent) { for id in first...last { remove(id) } }
        return true
    }

    /// Notes that the row has been checked that a snapshot of `version` has.
    func insert(_ id: UInt64, at version: UInt64) {
        guard isTrusted(at: version) else { return }
        insert(id)
        // Taken away since: what was checked may be an older image than the newest. Who read the bit in between took that unchecked.
        if version < foreign.pointee.load(ordering: .sequentiallyConsistent) { remove(id) }
    }

    /// Notes a row that the write in progress has made.
    @inline(__always)
    func insert(_ id: UInt64) {
        guard id < Self.limit, let words = words(Self.piece(id)) ?? makeWords(Self.piece(id)) else { return }
        let word = Int(id >> 6)
        let bit: UInt64 = 1 << (id & 63)
        if words[word].bits.load(ordering: .relaxed) & bit != 0 { return }
        words[word].bits.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    }

    func remove(_ id: UInt64) {
        guard id < Self.limit, let words = words(Self.piece(id)) else { return }
        words[Int(id >> 6)].bits.bitwiseAnd(~(1 << (id & 63)), ordering: .sequentiallyConsistent)
    }

    func removeAll() {
        for piece in 0..<Self.pieceCount {
            guard let words = words(piece) else { continue }
            let first = Self.firstWord(piece)
            for word in first..<Self.firstWord(piece + 1) {
                words[word].bits.store(0, ordering: .sequentiallyConsistent)
            }
        }
    }

    @inline(never)
    private func makeWords(_ piece: Int) -> UnsafeMutablePointer<Word>? {
        versions.lock.withLock {
            if let words = words(piece) { return words }
            let first = Self.firstWord(piece)
            let count = Self.firstWord(piece + 1) - first
            guard let memory = calloc(count, MemoryLayout<Word>.stride) else { return nil }
            let words = memory.bindMemory(to: Word.self, capacity: count) - first
            pieces[piece].value.store(UInt(bitPattern: words), ordering: .releasing)
            return words
        }
    }
}

/// Which versions the bits of a store are about.
///
/// Unchecked because of the pointer, which never changes, to a number that is atomic.
final class CheckedVersions: @unchecked Sendable {
    let lock = TracedMutex("checked rows")
    /// The last version that another process has made. Stays until the end.
    let foreign: UnsafeMutablePointer<Atomic<UInt64>>
    private let synced = Atomic<UInt64>(0)
    /// The last version that this process has committed, or is committing.
    private let own = Atomic<UInt64>(.max)

    init() {
        foreign = .allocate(capacity: 1)
        foreign.initialize(to: Atomic(0))
    }

    deinit {
        foreign.deinitialize(count: 1)
        foreign.deallocate()
    }

    /// Begins, with nothing checked.
    func begin(at version: UInt64) {
        foreign.pointee.store(version, ordering: .releasing)
        synced.store(version, ordering: .releasing)
    }

    @inline(__always)
    func isSynced(with version: UInt64) -> Bool { synced.load(ordering: .acquiring) >= version }

    /// Called with the write lock held, before the version can be visible.
    func willCommit(_ version: UInt64) { own.store(version, ordering: .sequentiallyConsistent) }

    func didCommit(_ version: UInt64) {
        _ = synced.compareExchange(expected: version - 1, desired: version, ordering: .acquiringAndReleasing)
    }

    func didNotCommit() { own.store(.max, ordering: .sequentiallyConsistent) }

    /// Moves on to `version`. `forget` takes away the bits of rows that others have changed after the first version it is given;
    /// the second is this process's own.
    func advance(to version: UInt64, _ forget: (_ known: UInt64, _ own: UInt64) -> Void) {
        lock.withLock {
            let known = synced.load(ordering: .acquiring)
            guard known < version else { return }
            let own = own.load(ordering: .sequentiallyConsistent)
            if known + 1 < version || own != version {
                foreign.pointee.store(version, ordering: .sequentiallyConsistent)
                forget(known, own)
            }
            synced.store(version, ordering: .releasing)
        }
    }
}
