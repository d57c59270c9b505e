// Walks a tree of LMDB page by page and checks its format: each page is the expected one and reached once, its entries
// lie in it and are as long as its used part in sum, keys ascend, and counts match. Damage is reported, and what it
// affects is skipped.
import Glibc

/// A description of damage and its page.
struct PageDamage {
    let page: UInt64
    let what: String
}

/// Pages of one version of a file, as far as they have been walked. Used by one thread.
final class TreeWalk {
    private static let maxDepth = 32
    private static let mostMissing: UInt64 = 1 << 24
    private static let headerBytes = 16
    private static let entryBytes = 8
    private enum Kind {
        static let branch: UInt16 = 1
        static let leaf: UInt16 = 2
        static let own: UInt16 = 4
        static let values: UInt16 = 0x20
        /// A page inside an entry of another page.
        static let inside: UInt16 = 0x40
        /// Flag of pages that a write transaction has changed. In a page inside an entry it stays set in the file.
        static let dirty: UInt16 = 0x10
    }
    private enum EntryFlag {
        static let ownPages: UInt16 = 1
        static let tree: UInt16 = 2
        static let values: UInt16 = 4
    }
    private enum TreeFlag {
        static let numbers: UInt16 = 0x08
    }

    /// Called with a key and a value, valid for the call. `isRecord` is true for a value that is a record of a tree.
    typealias Visit = (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ isRecord: Bool) -> Void

    private let pages: FilePages
    private let lastPage: UInt64
    private var seen: [UInt64]
    private(set) var damage: [PageDamage] = []
    private(set) var usedPages = 0

    init(_ pages: FilePages, lastPage: UInt64) {
        self.pages = pages
        // Free pages at the end of a file may be missing. An implausible number is damage, and must not take memory.
        self.lastPage = min(lastPage, pages.count + Self.mostMissing)
        seen = [UInt64](repeating: 0, count: Int(self.lastPage / 64) + 1)
        _ = (claim(0), claim(1))
    }

    /// Reports damage.
    func note(_ page: UInt64, _ what: String) { damage.append(PageDamage(page: page, what: what)) }

    /// Claims a page for one use. Returns false if it does not exist or is in use.
    func claim(_ page: UInt64) -> Bool {
        guard page <= lastPage else { return false }
        let bit: UInt64 = 1 << (page % 64)
        guard seen[Int(page / 64)] & bit == 0 else { return false }
        seen[Int(page / 64)] |= bit
        return true
    }

    // MARK: A tree

    /// State of the walk of one tree.
    private struct Progress {
        let record: TreeRecord
        let name: String
        /// Whether the tree holds the values of one key.
        let isOfValues: Bool
        var previous: [UInt8]?
        /// Lower bound of the next key.
        var minimum: [UInt8]?
        var branches: UInt64 = 0
        var leaves: UInt64 = 0
        var own: UInt64 = 0
        var entries: UInt64 = 0
    }

    /// Visits the content of a tree in order. O(its pages).
    func walk(_ record: TreeRecord, _ name: String, page: UInt64, _ visit: Visit) {
        let before = damage.count
        var progress = Progress(record: record, name: name, isOfValues: false)
        walk(&progress, page, visit)
        if damage.count == before { compare(progress, page) }
    }

    private func walk(_ progress: inout Progress, _ page: UInt64, _ visit: Visit) {
        guard let root = progress.record.root else { return }
        if progress.record.depth == 0 || progress.record.depth > Self.maxDepth {
            return note(page, "the depth of \(progress.name) is \(progress.record.depth)")
        }
        descend(root, 1, &progress, visit)
    }

    private func compare(_ progress: Progress, _ page: UInt64) {
        let record = progress.record
        let hasTree = record.root != nil
        guard hasTree || record.depth == 0,
            record.branchPages == progress.branches, record.leafPages == progress.leaves,
            record.ownPages == progress.own, record.entries == progress.entries
        else {
            return note(
                page,
                """
                the record of \(progress.name) counts \(record.entries) entries on \(record.branchPages) + \
                \(record.leafPages) + \(record.ownPages) pages, and there are \(progress.entries) on \
                \(progress.branches) + \(progress.leaves) + \(progress.own)
                """)
        }
    }

    private func descend(_ number: UInt64, _ depth: UInt16, _ progress: inout Progress, _ visit: Visit) {
        guard claim(number) else {
            return note(number, "a page of \(progress.name) is used twice, or lies behind the last one")
        }
        guard let bytes = pages.read(number) else { return note(number, "a page of \(progress.name) cannot be read") }
        usedPages += 1
        bytes.withUnsafeBytes { bytes in
            let kind = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
            guard bytes.loadUnaligned(as: UInt64.self) == number else {
                return note(number, "a page of \(progress.name) says that it is another one")
            }
            switch kind {
            case Kind.branch where depth < progress.record.depth: branch(bytes, number, depth, &progress, visit)
            case Kind.leaf where depth == progress.record.depth:
                progress.leaves += 1
                leaf(bytes, number, &progress, visit)
            case Kind.leaf | Kind.values where depth == progress.record.depth && progress.isOfValues:
                progress.leaves += 1
                values(bytes, number, &progress, visit)
            default: note(number, "a page of \(progress.name) is of kind \(kind) at depth \(depth)")
            }
        }
    }

    private func branch(
        _ bytes: UnsafeRawBufferPointer, _ number: UInt64, _ depth: UInt16, _ progress: inout Progress, _ visit: Visit
    ) {
        progress.branches += 1
        guard let offsets = entries(of: bytes, number, progress.name, { Self.entryBytes + Int($0.keyCount) }) else {
            return
        }
        for (index, offset) in offsets.enumerated() {
            let entry = Entry(bytes, offset)
            if index > 0 {
                let key = Array(entry.key)
                guard isAbove(key, progress.previous, progress), isAbove(key, progress.minimum, progress) else {
                    note(number, "keys of \(progress.name) do not ascend")
                    continue
                }
                progress.minimum = key
            }
            descend(entry.child, depth + 1, &progress, visit)
        }
    }

    private func leaf(
        _ bytes: UnsafeRawBufferPointer, _ number: UInt64, _ progress: inout Progress, _ visit: Visit
    ) {
        let size: (Entry) -> Int = { entry in
            let own = entry.flags == EntryFlag.ownPages
            return Self.entryBytes + Int(entry.keyCount) + (own ? 8 : Int(entry.byteCount))
        }
        guard let offsets = entries(of: bytes, number, progress.name, size) else { return }
        for offset in offsets {
            let entry = Entry(bytes, offset)
            let key = Array(entry.key)
            guard isNext(key, progress) else {
                note(number, "keys of \(progress.name) do not ascend")
                continue
            }
            (progress.previous, progress.minimum) = (key, nil)
            value(entry, number, &progress, visit)
        }
    }

    private func value(_ entry: Entry, _ number: UInt64, _ progress: inout Progress, _ visit: Visit) {
        // Entries of a tree of values must have no flags. A damaged file may claim nested trees, which would use up the
        // stack.
        switch progress.isOfValues && entry.flags != 0 ? .max : entry.flags {
        case 0:
            progress.entries += 1
            visit(entry.key, entry.inside(Int(entry.byteCount)), false)
        case EntryFlag.tree:
            progress.entries += 1
            visit(entry.key, entry.inside(Int(entry.byteCount)), true)
        case EntryFlag.ownPages:
            progress.entries += 1
            let first = entry.inside(8).loadUnaligned(as: UInt64.self)
            guard let bytes = ownPages(first, Int(entry.byteCount), &progress) else {
                return note(first, "a large value of \(progress.name) is damaged")
            }
            bytes.withUnsafeBytes { bytes in
                let end = Self.headerBytes + Int(entry.byteCount)
                visit(entry.key, UnsafeRawBufferPointer(rebasing: bytes[Self.headerBytes..<end]), false)
            }
        case EntryFlag.values | EntryFlag.tree:
            guard let record = TreeRecord(entry.inside(Int(entry.byteCount))) else {
                return note(number, "the record of a key's entries in \(progress.name) is damaged")
            }
            valueTree(record, entry.key, number, &progress, visit)
        case EntryFlag.values:
            var list = Progress(record: progress.record, name: progress.name, isOfValues: true)
            values(entry.inside(Int(entry.byteCount)), number, &list) { value, _, _ in visit(entry.key, value, false) }
            progress.entries += list.entries
        default: note(number, "an entry of \(progress.name) is of kind \(entry.flags)")
        }
    }

    /// Walks many values of one key, which have a tree of their own. Its pages count for its own record only.
    private func valueTree(
        _ record: TreeRecord, _ key: UnsafeRawBufferPointer, _ number: UInt64, _ progress: inout Progress,
        _ visit: Visit
    ) {
        let before = damage.count
        var list = Progress(record: record, name: progress.name, isOfValues: true)
        walk(&list, number) { value, _, _ in visit(key, value, false) }
        if damage.count == before { compare(list, number) }
        progress.entries += list.entries
    }

    /// Visits values of equal length, stored without gaps, which are the keys of a tree of values.
    private func values(
        _ bytes: UnsafeRawBufferPointer, _ number: UInt64, _ progress: inout Progress, _ visit: Visit
    ) {
        guard bytes.count >= Self.headerBytes else {
            return note(number, "a list of entries of \(progress.name) is cut short")
        }
        let kind = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self) & ~(Kind.inside | Kind.dirty)
        let size = Int(bytes.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
        let lower = Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
        let count = (lower - Self.headerBytes) / 2
        guard kind == Kind.leaf | Kind.values, size > 0, lower > Self.headerBytes, lower % 2 == 0,
            Self.headerBytes + count * size <= bytes.count
        else { return note(number, "a list of entries of \(progress.name) is damaged") }
        for index in 0..<count {
            let start = Self.headerBytes + index * size
            let value = UnsafeRawBufferPointer(rebasing: bytes[start..<start + size])
            guard isNext(Array(value), progress) else {
                note(number, "entries of \(progress.name) do not ascend")
                continue
            }
            (progress.previous, progress.minimum) = (Array(value), nil)
            progress.entries += 1
            visit(value, UnsafeRawBufferPointer(rebasing: bytes[..<0]), false)
        }
    }

    /// Reads the overflow pages of a value.
    private func ownPages(_ first: UInt64, _ byteCount: Int, _ progress: inout Progress) -> [UInt8]? {
        let needed = (Self.headerBytes + byteCount + pages.pageBytes - 1) / pages.pageBytes
        // A value that shrank in the transaction that made it keeps its pages.
        let listed = pages.read(first)?.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 12, as: UInt32.self)) }
        guard let count = listed, count >= needed, UInt64(count) <= pages.count else { return nil }
        for page in 0..<UInt64(count) where !claim(first &+ page) { return nil }
        guard let bytes = pages.read(first, pages: count) else { return nil }
        let isWhole = bytes.withUnsafeBytes {
            $0.loadUnaligned(as: UInt64.self) == first
                && $0.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == Kind.own
                && $0.loadUnaligned(fromByteOffset: 12, as: UInt32.self) == UInt32(count)
        }
        progress.own += UInt64(count)
        usedPages += count
        return isWhole ? bytes : nil
    }

    // MARK: A page

    /// An entry that lies in its page, as `entries(of:)` has checked.
    private struct Entry {
        private let base: UnsafeRawPointer

        init(_ page: UnsafeRawBufferPointer, _ offset: Int) { base = page.baseAddress! + offset }

        var byteCount: UInt32 { base.loadUnaligned(as: UInt32.self) }
        var flags: UInt16 { base.loadUnaligned(fromByteOffset: 4, as: UInt16.self) }
        var keyCount: UInt16 { base.loadUnaligned(fromByteOffset: 6, as: UInt16.self) }
        var child: UInt64 { UInt64(byteCount) | UInt64(flags) << 32 }
        var key: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: base + TreeWalk.entryBytes, count: Int(keyCount))
        }
        func inside(_ count: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: base + TreeWalk.entryBytes + Int(keyCount), count: count)
        }
    }

    /// Offsets of the entries of a page. Returns nil and reports damage if one is not in the page, if two begin at the
    /// same place, or if together they are longer or shorter than the used part of the page.
    private func entries(
        of bytes: UnsafeRawBufferPointer, _ number: UInt64, _ name: String, _ size: (Entry) -> Int
    ) -> [Int]? {
        let lower = Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
        let upper = Int(bytes.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
        guard lower > Self.headerBytes, lower % 2 == 0, lower <= upper, upper <= bytes.count else {
            note(number, "the head of a page of \(name) is damaged")
            return nil
        }
        var offsets: [Int] = []
        var used = 0
        for place in stride(from: Self.headerBytes, to: lower, by: 2) {
            let offset = Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self))
            guard offset >= upper, offset + Self.entryBytes <= bytes.count,
                case let count = size(Entry(bytes, offset)), offset + count <= bytes.count
            else {
                note(number, "an entry of \(name) does not lie in its page")
                return nil
            }
            offsets.append(offset)
            used += (count + 1) & ~1
        }
        // Entries fill the part of a page behind its free space without gaps.
        guard used == bytes.count - upper, Set(offsets).count == offsets.count else {
            note(number, "entries of \(name) overlap, or leave a gap")
            return nil
        }
        return offsets
    }

    private func isNext(_ key: [UInt8], _ progress: Progress) -> Bool {
        guard isAbove(key, progress.previous, progress) else { return false }
        return progress.minimum.map { key == $0 || isAbove(key, $0, progress) } ?? true
    }

    /// Returns whether a key is greater than another in the tree's order.
    private func isAbove(_ key: [UInt8], _ other: [UInt8]?, _ progress: Progress) -> Bool {
        guard let other else { return true }
        if !progress.isOfValues, progress.record.flags & TreeFlag.numbers != 0 {
            guard key.count == 8, other.count == 8 else { return false }
            let numbers = [key, other].map { $0.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } }
            return numbers[0] > numbers[1]
        }
        return other.lexicographicallyPrecedes(key)
    }
}
