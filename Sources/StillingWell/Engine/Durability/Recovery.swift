// Where a store begins after the machine has gone down: at the last version that was flushed, whatever else of the file has come to
// the disk. Runs while nobody else has the store open, before the engine opens it.
import Glibc
import Logging

/// What is known of a store before it is opened.
struct Recovery {
    /// The last version that is known to be on the disk; 0 where none is.
    private(set) var flushed: UInt64 = 0
    /// The number of the record that says so; 0 where none is.
    private(set) var number: UInt64 = 0
    /// The largest number of a record, of this store or another, or of a flush that came to none.
    private(set) var begun: UInt64 = 0
    /// Which flush that was; 0 where none is known.
    private(set) var token: UInt64 = 0

    /// False where whoever made the store may have been killed before the names of its files were on the disk: it is flushed once
    /// before it has them.
    var isNamed: Bool { number > 1 }

    /// Of a store of which nothing is known.
    init() {}

    /// Has the store begin with what was flushed, if what came later may not all be there, or if a header is damaged.
    /// - Parameters:
    ///   - boot: of this run of the machine.
    ///   - isForced: whether a flush has failed, after which the system's cache is not what is on the disk.
    ///   - mends: whether damaged headers are restored, and refused if they cannot be; false to look at them.
    /// - Throws: `cannotOpen` if a header is damaged, and it is not known which commit was the newest.
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
        // The one before the newest, where that was written by a process that was killed before it could say so.
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
            // One that a killed process was writing may be in the system's memory alone.
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
        // From here on what is written is there again, for as long as the machine runs.
        record.boot = boot
        record.number = FlushRecord.nextNumber(after: begun, keeping: number)
        let code = try FlushFile(directory, modes, isEmptied: false, isNamed: true).write(record)
        guard code == 0 else {
            errno = code
            throw FolderLock.failure("write", directory + "/" + StoreFolder.durable)
        }
        (number, begun) = (record.number, record.number)
    }

    /// The record of the last flush of a file that nobody has open, or of one that is read; nil if there is none.
    /// - Parameter first: the file's first two pages.
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

    /// Whether a file has the pages that a record's trees begin with.
    static func isOf(_ record: FlushRecord, _ pages: FilePages) -> Bool {
        guard record.pageBytes == pages.pageBytes,
            let meta = record.sector(0).withUnsafeBytes({ MetaPage($0, 0) })
        else { return false }
        let roots = [meta.free.root, meta.tables.root].map { $0.map { pages.read($0) } }
        if roots.contains(where: { $0 == .some(nil) }) { return false }
        return FlushRecord.sum(roots.map { $0 ?? nil }) == record.rootsSum
    }

    /// Puts the header of a record into both places, so that there is no other.
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
