// Rows that this process has checked against their checksum: one bit for each object id, so that a second read costs a
// bit test.
//
// A bit describes the row at the newest version that this process knows (`CheckedVersions.synced`). Before a snapshot
// is handed out, the bits of rows that other processes have changed up to its version are cleared. A snapshot older
// than the last foreign commit may see an older image of a row than the bit describes, so it sets and trusts no bits.
// An own commit clears no bits: both the row that it read and the row that it wrote are checked.
//
// Bits and versions are atomics. `lock` guards `advance` and the allocation of bits. An own commit advances `synced`
// without it, under the write lock.
import Glibc
import StillingWellSync
import Synchronization

/// The rows of one table that have been checked.
///
/// Unchecked because of the pointers. They point to atomic words that exist until `deinit`.
final class CheckedRows: @unchecked Sendable {
    private struct Word: ~Copyable {
        let bits = Atomic<UInt64>(0)
    }
    private struct Address: ~Copyable {
        let value = Atomic<UInt>(0)
    }

    /// Log2 of the ids in the first piece. Each further piece is as large as all before it.
    private static let firstShift: UInt64 = 12
    /// First id that has no bit: such rows are checked at every read.
    private static let limit: UInt64 = 1 << 36
    private static let pieceCount = 25
    /// Maximum span of ids in one test. Larger than the rows of a page, because ids may be missing between them.
    private static let maxSpan: UInt64 = 512

    /// Addresses of the pieces, each offset so that it can be indexed from id 0.
    private let pieces: UnsafeMutablePointer<Address>
    private let versions: CheckedVersions
    /// `versions.foreign`, reachable without a retain.
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

    /// Returns whether the row in a snapshot of `version` has been checked.
    @inline(__always)
    func contains(_ id: UInt64, at version: UInt64) -> Bool {
        guard id < Self.limit, let words = words(Self.piece(id)) else { return false }
        return words[Int(id >> 6)].bits.load(ordering: .acquiring) & (1 << (id & 63)) != 0
            && isTrusted(at: version)
    }

    /// Has to be called after the bits were read: bits set after a newer foreign commit come with a newer `foreign`.
    @inline(__always)
    private func isTrusted(at version: UInt64) -> Bool { version >= foreign.pointee.load(ordering: .acquiring) }

    /// Returns whether all rows of a span in a snapshot of `version` have been checked. False if the span is too large
    /// or lies in two pieces.
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

    /// Marks all rows of a span in a snapshot of `version` as checked, unless a foreign commit is newer.
    /// - Returns: false, with nothing marked, if the span is too large or ends at an id that has no bit.
    func insert(_ first: UInt64, through last: UInt64, at version: UInt64) -> Bool {
        guard last < Self.limit, last - first < Self.maxSpan else { return false }
        guard isTrusted(at: version) else { return true }
        for id in first...last where id == first || id & 63 == 0 {
            guard let words = words(Self.piece(id)) ?? makeWords(Self.piece(id)) else { return true }
            let mask = UInt64.max &<< id & (id >> 6 == last >> 6 ? .max &>> ~last : .max)
            words[Int(id >> 6)].bits.bitwiseOr(mask, ordering: .sequentiallyConsistent)
        }
        // As in `insert(_:at:)`.
        if version < foreign.pointee.load(ordering: .sequentiallyConsistent) { for id in first...last { remove(id) } }
        return true
    }

    /// Marks the row in a snapshot of `version` as checked, unless a foreign commit is newer.
    func insert(_ id: UInt64, at version: UInt64) {
        guard isTrusted(at: version) else { return }
        insert(id)
        // Another process has committed meanwhile, so the checked image may be old. A newer snapshot that trusted the
        // bit in between may have read its row unchecked.
        if version < foreign.pointee.load(ordering: .sequentiallyConsistent) { remove(id) }
    }

    /// Marks a row made by the write in progress as checked.
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
    /// Newest version at which commits of other processes were noticed, or that of the opening. The memory stays until
    /// `deinit`.
    let foreign: UnsafeMutablePointer<Atomic<UInt64>>
    private let synced = Atomic<UInt64>(0)
    /// Last version that this process has committed or is committing; `.max` before the first commit and after a
    /// failed one.
    private let own = Atomic<UInt64>(.max)

    init() {
        foreign = .allocate(capacity: 1)
        foreign.initialize(to: Atomic(0))
    }

    deinit {
        foreign.deinitialize(count: 1)
        foreign.deallocate()
    }

    /// Starts at a version, with no row checked.
    func begin(at version: UInt64) {
        foreign.pointee.store(version, ordering: .releasing)
        synced.store(version, ordering: .releasing)
    }

    @inline(__always)
    func isSynced(with version: UInt64) -> Bool { synced.load(ordering: .acquiring) >= version }

    /// Called with the write lock held, before the version becomes visible.
    func willCommit(_ version: UInt64) { own.store(version, ordering: .sequentiallyConsistent) }

    func didCommit(_ version: UInt64) {
        _ = synced.compareExchange(expected: version - 1, desired: version, ordering: .acquiringAndReleasing)
    }

    func didNotCommit() { own.store(.max, ordering: .sequentiallyConsistent) }

    /// Advances to `version`. `forget` clears the bits of rows that other processes changed after its first argument;
    /// its second argument is this process's own version.
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
