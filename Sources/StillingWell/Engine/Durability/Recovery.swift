// Recovery after a machine crash: the store begins at the last flushed version, whatever later data has reached the
// disk. Runs while no process has the store open, before LMDB opens it.
import Glibc
import Logging

/// Flush state of a store before it is opened.
struct Recovery {
    /// Last transaction known to be on the disk, or 0.
    private(set) var flushed: UInt64 = 0
    /// Number of its record, or 0.
    private(set) var number: UInt64 = 0
    /// Largest number of a record of any store or of an unfinished flush.
    private(set) var begun: UInt64 = 0
    /// Token of the last flush, or 0.
    private(set) var token: UInt64 = 0

    /// Whether the directory entries of the store's files are on the disk. If false, the maker of the store may have
    /// been killed before it flushed them, so they are flushed again.
    var isNamed: Bool { number > 1 }

    /// State of a store without a record.
    init() {}

    /// Makes the store begin at its last flush if later commits may be incomplete or a header is damaged.
    /// - Parameters:
    ///   - boot: boot id of this run of the machine.
    ///   - isForced: whether a flush has failed, after which the system's cache may differ from the disk.
    ///   - mends: whether damaged headers are restored, or refused if they cannot be. False for a check, which changes
    ///     the headers only after another boot or a failed flush.
    /// - Throws: `cannotOpen` if a header is damaged and the newest commit is unknown, or a file cannot be read or
    ///   written.
    init(
        _ directory: String, _ modes: FileModes, boot: BootID?, isForced: Bool = false, mends: Bool = true
    ) throws(StoreError) {
        let pages = try FilePages(directory)
        let first = pages.firstPages()
        let (headers, marks) = (pages.headers(in: first), FlushMarks(first))
        let records = try FlushFile.records(directory)
        begun = max(records.first?.number ?? 0, marks.newest?.recordNumber ?? 0)
        if records.isEmpty {
            let isKnown = HeaderFinding.areSuccessive(headers, lastFreed: pages.lastFreed)
            if mends, !isKnown { throw Self.damaged(pages.path) }
            return
        }
        // The newest record is skipped if its process was killed before it marked the flush as ended, and another flush
        // has begun since.
        guard var record = records.first(where: marks.allow) else {
            Self.say(directory, .unused)
            return
        }
        let finding = HeaderFinding(headers, record, lastFreed: pages.lastFreed)
        guard Self.isOf(record, pages) else {
            if mends, !marks.isTorn, finding == .damaged { throw Self.damaged(pages.path) }
            Self.say(directory, .unused)
            return
        }
        (flushed, token, number) = (record.transaction, record.token, record.number)
        if record.isOfSameBoot(boot), !isForced {
            // A record written by a killed process may not be on the disk yet.
            if marks.newest?.ended != record.token {
                try StoreFolder.synchronize(directory + "/" + StoreFolder.durable)
            }
            if !mends || finding == .recorded || finding == .later { return }
            if finding == .unclear { throw Self.damaged(pages.path) }
            Self.say(directory, .restored(flushed))
            try Self.begin(with: record, pages)
            return
        }
        if finding != .recorded {
            let newest = headers.map(\.meta.transaction).max() ?? 0
            if newest > flushed { Self.say(directory, .steppedBack(flushed, from: newest)) }
            try Self.begin(with: record, pages)
        }
        // From here on, everything written stays in the system's cache until the next boot.
        record.boot = boot
        record.number = FlushRecord.nextNumber(after: begun, keeping: number)
        let code = try FlushFile(directory, modes, isEmptied: false, isNamed: true).write(record)
        guard code == 0 else {
            errno = code
            throw FolderLock.failure("write", directory + "/" + StoreFolder.durable)
        }
        (number, begun) = (record.number, record.number)
    }

    /// Record of the last flush of a file that is closed or only read, or nil if there is none.
    /// - Parameter first: the first two pages of the file.
    static func lastFlush(_ directory: String, _ first: [[UInt8]?]) throws(StoreError) -> FlushRecord? {
        try FlushFile.records(directory).first(where: FlushMarks(first).allow)
    }

    private enum Event {
        case unused
        case restored(UInt64)
        case steppedBack(UInt64, from: UInt64)
    }

    private static func say(_ directory: String, _ event: Event) {
        let logger = Logger(label: "stillingwell")
        switch event {
        case .unused:
            logger.notice(
                "\(directory)/\(StoreFolder.durable) is of another file than the \(StoreFolder.data) beside it, and is not used"
            )
        case .restored(let flushed):
            logger.warning(
                """
                a header of \(directory)/\(StoreFolder.data) was damaged and is restored from \(StoreFolder.durable): the store \
                begins at its last flush, transaction \(flushed)
                """)
        case .steppedBack(let flushed, let newest):
            logger.notice(
                """
                the store at \(directory) begins at its last flush, transaction \(flushed): what was committed later, up to \
                transaction \(newest), was not known to be on the disk
                """)
        }
    }

    private static func damaged(_ path: String) -> StoreError {
        .cannotOpen(
            path: path,
            reason: """
                a header is damaged, and which commit was the newest is not known; restore it from a backup, or write what is whole \
                to a new store with Store.salvage
                """)
    }

    /// Returns whether a file has the root pages of a record.
    static func isOf(_ record: FlushRecord, _ pages: FilePages) -> Bool {
        guard record.pageBytes == pages.pageBytes,
            let meta = record.sector(0).withUnsafeBytes({ MetaPage($0, 0) })
        else { return false }
        let roots = [meta.free.root, meta.tables.root].map { $0.map { pages.read($0) } }
        if roots.contains(where: { $0 == .some(nil) }) { return false }
        return FlushRecord.sum(roots.map { $0 ?? nil }) == record.rootsSum
    }

    /// Writes the header of a record to both header pages, so that the file has no other.
    private static func begin(with record: FlushRecord, _ pages: FilePages) throws(StoreError) {
        let path = pages.path
        let file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw FolderLock.failure("open", path) }
        defer { close(file) }
        for place in 0..<FlushRecord.places {
            let header = record.sector(place)
            guard pwrite(file, header, header.count, off_t(place * pages.pageBytes)) == header.count else {
                throw FolderLock.failure("write", path)
            }
        }
        guard fdatasync(file) == 0 else { throw FolderLock.failure("synchronize", path) }
    }
}
