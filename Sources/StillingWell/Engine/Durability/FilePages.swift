// Reads pages of a store's file without LMDB and without a map, so that a damaged or truncated file cannot end the
// process. The format is LMDB's data version 1. Its meta pages hold:
//
//     16 magic (4), 20 version (4), 40 record of the tree of free pages (48), 88 record of the tree of tables (48),
//     136 last page (8), 144 transaction (8)
//     record  0 page size, or value size of duplicates (4), 4 flags (2), 6 depth (2), 8 branch pages (8),
//             16 leaf pages (8), 24 overflow pages (8), 32 entries (8), 40 root page (8), all ones for none
import CStillingWellLMDB
import Glibc

/// LMDB's record of a tree: its root page and counts.
struct TreeRecord {
    static let bytes = 48

    let valueBytes: UInt32
    let flags: UInt16
    let depth: UInt16
    let branchPages: UInt64
    let leafPages: UInt64
    let ownPages: UInt64
    let entries: UInt64
    /// Root page, or nil for an empty tree.
    let root: UInt64?

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.bytes else { return nil }
        func word(_ offset: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        valueBytes = bytes.loadUnaligned(as: UInt32.self)
        flags = bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
        depth = bytes.loadUnaligned(fromByteOffset: 6, as: UInt16.self)
        (branchPages, leafPages, ownPages, entries) = (word(8), word(16), word(24), word(32))
        root = word(40) == .max ? nil : word(40)
    }
}

/// A meta page of LMDB, the header of one commit.
struct MetaPage {
    /// Number of its page, 0 or 1.
    let number: UInt64
    let transaction: UInt64
    let pageBytes: Int
    let lastPage: UInt64
    let free: TreeRecord
    let tables: TreeRecord

    /// Returns nil if the bytes are no meta page.
    init?(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) {
        guard bytes.count >= 152, bytes.loadUnaligned(as: UInt64.self) == number,
            bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == 8,
            bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self) == 0xbeef_c0de,
            bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self) == 1,
            let free = TreeRecord(UnsafeRawBufferPointer(rebasing: bytes[40..<88])),
            let tables = TreeRecord(UnsafeRawBufferPointer(rebasing: bytes[88..<136]))
        else { return nil }
        // Flags for the order of keys: page numbers for free pages, bytes for tables. Neither has duplicate keys.
        let (reversed, several, numbers, ofOneLength): (UInt16, UInt16, UInt16, UInt16) = (0x02, 0x04, 0x08, 0x10)
        guard free.flags & (reversed | several | numbers) == numbers,
            tables.flags & (reversed | several | numbers | ofOneLength) == 0
        else { return nil }
        self.number = number
        (self.free, self.tables) = (free, tables)
        pageBytes = Int(free.valueBytes)
        guard pageBytes >= 512, pageBytes <= 65_536, pageBytes & (pageBytes - 1) == 0 else { return nil }
        lastPage = bytes.loadUnaligned(fromByteOffset: 136, as: UInt64.self)
        transaction = bytes.loadUnaligned(fromByteOffset: 144, as: UInt64.self)
    }

    /// Returns whether both describe the same commit, at whichever place.
    func isSame(as other: MetaPage) -> Bool {
        transaction == other.transaction && lastPage == other.lastPage && free.root == other.free.root
            && tables.root == other.tables.root && tables.entries == other.tables.entries
    }
}

/// One of the first two pages of a file.
struct FileHeader {
    let meta: MetaPage
    /// The part of the page that a flush record stores.
    let bytes: [UInt8]

    /// Returns nil if the page is no header.
    init?(_ page: [UInt8], _ number: UInt64) {
        guard page.count >= FlushRecord.header.upperBound,
            let meta = page.withUnsafeBytes({ MetaPage($0, number) })
        else { return nil }
        self.meta = meta
        bytes = Array(page[FlushRecord.header])
    }
}

/// A store's file, opened for reading. Used by one thread at a time.
final class FilePages {
    let path: String
    private let file: Int32
    private let isOwn: Bool
    /// Page size in bytes; LMDB uses that of the kernel.
    let pageBytes: Int
    /// Number of whole pages in the file.
    let count: UInt64

    /// - Throws: `cannotOpen`.
    init(_ directory: String) throws(StoreError) {
        path = directory + "/" + StoreFolder.data
        file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw FolderLock.failure("open", path) }
        var status = stat()
        guard fstat(file, &status) == 0 else {
            let error = FolderLock.failure("look at", path)
            close(file)
            throw error
        }
        pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))
        count = UInt64(max(0, Int(status.st_size) / pageBytes))
        isOwn = true
    }

    /// Pages of the file that an environment has open. Valid while it is open.
    init(of environment: OpaquePointer, _ directory: String) {
        path = directory + "/" + StoreFolder.data
        var file: mdb_filehandle_t = -1
        mdb_env_get_fd(environment, &file)
        var status = stat()
        self.file = file
        pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))
        count = fstat(file, &status) == 0 ? UInt64(max(0, Int(status.st_size) / pageBytes)) : 0
        isOwn = false
    }

    deinit { if isOwn { close(file) } }

    /// Reads consecutive pages. Returns nil if the file ends before, or the read fails.
    func read(_ first: UInt64, pages: Int = 1) -> [UInt8]? {
        guard first < count, pages > 0, UInt64(pages) <= count - first else { return nil }
        let wanted = pages * pageBytes
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            while filled < wanted {
                let part = pread(
                    file, buffer.baseAddress! + filled, wanted - filled, off_t(Int(first) * pageBytes + filled))
                if part < 0, errno == EINTR { continue }
                guard part > 0 else {
                    isWhole = false
                    return
                }
                filled += part
            }
        }
        return isWhole ? bytes : nil
    }

    /// Number of LMDB tables in a store's file, at most `LMDB.maxTables`. Returns 0 if the file cannot be read: opening
    /// the store reports errors.
    static func tables(in directory: String) -> Int {
        let found = (try? FilePages(directory))?.metaPages().map(\.tables.entries).max() ?? 0
        return Int(min(found, UInt64(LMDB.maxTables)))
    }

    /// Valid meta pages of the file, at most two.
    func metaPages() -> [MetaPage] {
        [0, 1].compactMap { number in
            read(number)?.withUnsafeBytes { MetaPage($0, number) }.flatMap { $0.pageBytes == pageBytes ? $0 : nil }
        }
    }

    /// The two header pages; nil for one that cannot be read.
    func firstPages() -> [[UInt8]?] { [read(0), read(1)] }

    func headers(in pages: [[UInt8]?]) -> [FileHeader] {
        pages.enumerated().compactMap { number, page in
            page.flatMap { FileHeader($0, UInt64(number)) }.flatMap { $0.meta.pageBytes == pageBytes ? $0 : nil }
        }
    }

    /// Last transaction in the list of free pages of a version. It is the version's own, because each commit frees
    /// pages and lists them last. Returns nil if the list is empty or cannot be read.
    func lastFreed(_ meta: MetaPage) -> UInt64? {
        guard pageBytes == MappedPage.bytes, var number = meta.free.root else { return nil }
        for _ in 0..<meta.free.depth {
            guard let bytes = read(number) else { return nil }
            let next = bytes.withUnsafeBytes { bytes -> (isBranch: Bool, number: UInt64)? in
                guard let page = MappedPage(bytes.baseAddress!, number), page.count > 0 else { return nil }
                if page.isBranch { return (true, page.child(page.count - 1)) }
                let entry = page.entry(page.count - 1)
                return entry.keyCount == 8 ? (false, entry.id) : nil
            }
            guard let next else { return nil }
            if !next.isBranch { return next.number }
            number = next.number
        }
        return nil
    }
}
