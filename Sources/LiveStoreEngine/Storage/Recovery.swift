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

    /// Has the store begin with what was flushed, if what came later may not all be there.
    /// - Parameters:
    ///   - boot: of this run of the machine.
    ///   - isForced: whether a flush has failed, after which the system's cache is not what is on the disk.
    init(_ directory: String, _ modes: FileModes, boot: BootID?, isForced: Bool = false) throws(StoreError) {
        let pages = try FilePages(directory)
        let marks = FlushMarks((0..<FlushMark.places).map { pages.read(UInt64($0)) })
        let records = try FlushFile.records(directory)
        begun = max(records.first?.number ?? 0, marks.newest?.recordNumber ?? 0)
        if records.isEmpty { return }
        let found = pages.metaPages()
        // The one before the newest, where that was written by a process that was killed before it could say so.
        guard var record = records.first(where: marks.allow),
            let newest = found.max(by: { $0.transaction < $1.transaction }),
            newest.transaction >= record.transaction, Self.isOf(record, pages)
        else {
            Logger(label: "livestore").notice(
                "\(directory)/\(StoreFolder.durable) is of another file than the \(StoreFolder.data) beside it, and is not used"
            )
            return
        }
        (flushed, token, number) = (record.transaction, record.token, record.number)
        if record.isOfSameBoot(boot), !isForced {
            // One that a killed process was writing may be in the system's memory alone.
            if marks.newest?.ended != record.token {
                try StoreFolder.synchronize(directory + "/" + StoreFolder.durable)
            }
            return
        }
        let isSettled = found.count == FlushRecord.places && newest.transaction == record.transaction
        if !isSettled { try Self.begin(with: record, pages) }
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

    /// Whether a file has the pages that a record's trees begin with.
    private static func isOf(_ record: FlushRecord, _ pages: FilePages) -> Bool {
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
