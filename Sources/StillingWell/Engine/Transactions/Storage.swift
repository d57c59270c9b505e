// The files of an open store in this process: the LMDB environment, tables, the change log, the write lock, the shared
// page, and a pool of read transactions. `Store` objects on the same files share it. `.memory` uses the same engine on
// a memory file system, written through the map.
//
// Table handles are written while the store is opened, before other threads have it, so they are read without
// exclusivity checks. LMDB's own locks are taken inside LMDB only.
import CStillingWellEngine
import CStillingWellLMDB
import CStillingWellPlatform
import Foundation
import Logging
import StillingWellSync
import Synchronization

/// Unchecked because of what is set while it is opened, and of what the write lock guards.
final class Storage: @unchecked Sendable {
    /// Commits between two checks for killed readers. A check asks the kernel once per reading process.
    static let deadReaderInterval: UInt64 = 256

    /// Number of this storage in the process. Never reused.
    let number = Storage.made.wrappingAdd(1, ordering: .relaxed).newValue
    private static let made = Atomic<UInt64>(0)

    let environment: OpaquePointer
    let directory: String
    let durability: Durability
    let schemaVersion: UInt64
    private let mapBytes: Int
    let page: SharedPage
    let writeLock: WriteLock
    // Set while the store is opened, before other threads have it (Storage+Opening.swift).
    var log: MDB_dbi = 0
    var meta: MDB_dbi = 0
    /// Table of large values.
    var values: MDB_dbi = 0
    static let valuesName = Array(EngineName.values.utf8)
    private let knownValues = AtomicLazyReference<CheckedNodes>()
    /// Large values that have been checked. Made at first use: it takes a sixth of the time to open a store.
    var checkedValues: CheckedNodes { knownValues.load() ?? knownValues.storeIfNil(CheckedNodes()) }
    /// Keyed by the model class.
    @exclusivity(unchecked) var tables: [ObjectIdentifier: Table] = [:]
    /// Keyed by the table number in the log.
    @exclusivity(unchecked) var tablesByID: [UInt32: Table] = [:]

    /// Space of the data file that is reserved behind the pages in use; nil unless the store is in memory. Extended
    /// before writes through the map need it, because a full memory file system would raise SIGBUS. Guarded by the
    /// write lock.
    var reserved: MapReservation?

    /// Address and format of the mapped file, for reading pages without LMDB.
    let pageMap: PageMap

    /// Versions that the bits of checked rows describe.
    let checkedVersions = CheckedVersions()

    /// The row being written; guarded by the write lock.
    let writeBuffer = RowBuffer()

    /// Holders of versions in this process.
    let pins = PinList()
    let lentSnapshots = LentSnapshots()

    /// Mapping that new snapshots read.
    private let current: Guarded<ReadMap>
    var readMap: ReadMap { current.withLock { $0 } }
    /// Retired mappings of held versions. Tended by upkeep or, while none is woken by commits, by writers.
    let heldVersions: HeldVersions

    /// Flushes commits to the disk; nil if nothing does. Set while the store is opened.
    private(set) var flushing: Flushing?

    /// Files at the store's path; nil while the store is opened. Set before others have the storage.
    private(set) var files: HeldFiles?

    /// Pool of readers (Storage+Snapshots.swift).
    let idleReaders = Guarded<[SnapshotReader]>("snapshot pool", [])

    /// Whether the folder was made by this library and is deleted with the store.
    private let ownsFolder: Bool
    let modes: FileModes

    /// Fork generation of the process that opened the store.
    private let generation = cp_fork_generation()

    /// - Parameters:
    ///   - tables: maximum number of LMDB tables.
    ///   - limit: how long to wait for other processes.
    ///   - openTables: opens the tables of the storage before a deadline in ns.
    init(
        _ folder: StoreDirectory, durability: Durability, mapBytes: Int, schemaVersion: UInt64, flushes: FlushPlan,
        tables: UInt32, limit: TimeLimit, openTables: (Storage, Int64) throws -> Void
    ) throws {
        directory = folder.path
        ownsFolder = folder.isOwn
        modes = folder.modes
        self.durability = durability
        self.mapBytes = mapBytes
        self.schemaVersion = schemaVersion
        let deadlineNs = limit.deadlineNs
        page = try SharedPage(directory, modes, deadlineNs: deadlineNs)
        writeLock = WriteLock(page)
        try StoreFolder.checkFiles(directory)
        if page.wasAlone {
            // Files of an unfinished creation and, for a store in memory, the files of killed processes.
            let left = [StoreFolder.newData, StoreFolder.newLock]
            StoreFolder.remove(
                durability == .memory ? left + [StoreFolder.data, StoreFolder.lock] : left, in: directory)
        }
        if !page.wasAlone { try page.checkFiles(in: directory) }
        let isNew = try durability != .memory && page.wasAlone && StoreFolder.isUnmade(directory)
        let recovery = try Self.recover(folder, page, isNew: isNew, flushes, durability)

        // Once these properties are set, `deinit` closes the environment if something throws.
        environment = try LMDB.makeEnvironment(mapBytes: mapBytes, path: directory, tables: tables)
        pageMap = PageMap(environment)
        heldVersions = HeldVersions(environment, page, pins, directory)
        current = Guarded("read map", ReadMap(of: environment, pageMap))
        // A new store gets its name once its first commit is in the file: a power cut leaves a whole store, or none.
        let code =
            isNew
            ? engine_open(
                environment, "\(directory)/\(StoreFolder.newData)", durability.flags | UInt32(MDB_NOSUBDIR), modes.file)
            : engine_open(environment, directory, durability.flags, modes.file)
        if code != 0 { throw StoreFile.openingError(code, directory) }
        try StoreFile.checkLength(environment, directory, isAlone: page.wasAlone)
        if durability == .memory {
            reserved = try MapReservation(environment, path: directory)
        } else if !isNew {
            try guardEnd()
            try lookAtPages()
        }
        releaseDeadReaders()
        if durability == .full || durability == .relaxed && flushes.isOn {
            flushing = try Flushing(
                environment, folder, page, writeLock, waits: durability == .full, isNew: isNew, recovery ?? Recovery(),
                flushes)
        }
        do {
            try openTables(self, deadlineNs)
        } catch StoreError.writeTimedOut {
            throw StoreError.cannotOpen(
                path: directory,
                reason: """
                    \(writeLock.lastOwner.map { "process \($0)" } ?? "another process") holds its write lock and does not \
                    give it back; have it go on or end it, or raise Store.Configuration.openTimeout \
                    (\(limit.duration))
                    """)
        }
        if isNew || durability == .full { try flushing?.synchronize() }
        if isNew {
            if flushing == nil { try check(mdb_env_sync(environment, 1), "synchronize") }
            try StoreFolder.finish(directory, modes)
            // Now the file has pages to guard.
            try guardEnd()
        }
        flushing?.letGo()
        let held = try HeldFiles(directory, data: StoreFile.descriptor(environment), page, hasRecord: flushing != nil)
        if page.wasAlone { page.note(held) }
        files = held
        flushing?.watch(held)
        readApart()
        page.admitOthers()
    }

    private func guardEnd() throws(StoreError) {
        try reading("read tables") { () throws(EngineFailure) in try pageMap.find() }
        pageMap.guardEnd()
        if pageMap.base != nil { engine_check_reads(environment, environment) }
    }

    /// Makes writes check pages that may have been damaged while the file was not open.
    private func lookAtPages() throws(StoreError) {
        // The check is skipped for an unknown page format.
        guard let base = pageMap.base else { return }
        try check(engine_look(environment, base), "look at pages")
    }

    /// Gives snapshots a mapping of their own. Without one, pages of held versions stay in the file.
    private func readApart() {
        do {
            try replaceReadMap()
        } catch {
            Logger(label: "stillingwell").info(
                "held versions stay in the file of \(directory) until it is opened again: \(error)")
        }
    }

    /// Makes a new mapping for future snapshots and retires the current one.
    func replaceReadMap() throws {
        let next = try ReadMap(directory, mapBytes: mapBytes, tables: handles, pageMap, of: files?.identity(0))
        // Reads of a store in memory are not checked for skipped pages.
        if durability != .memory, pageMap.base != nil { engine_check_reads(next.environment, environment) }
        let last = current.withLock { current in
            defer { current = next }
            return current
        }
        last.isRetired.store(true, ordering: .sequentiallyConsistent)
    }

    /// Copies or releases the pages of versions that are held for long. Any thread.
    func tendHeldVersions(newest: UInt64) {
        heldVersions.tend(newest: newest, current: { readMap }, replace: replaceReadMap)
    }

    /// Handles and LMDB names of the tables that snapshots read.
    private var handles: [(handle: MDB_dbi, name: String)] {
        var handles = [(log, "log"), (meta, "meta"), (values, EngineName.values)]
        for table in tablesByID.values {
            handles.append((table.rows, EngineName.rows(table.id)))
            if let keys = table.primaryIndex { handles.append((keys, EngineName.keys(table.id))) }
            for index in table.links?.indexes ?? [] {
                handles.append((index.handle, ColumnIndex.name(index.table, index.column)))
            }
            if let order = table.links?.order { handles.append((order.handle, EngineName.ranks(table.id))) }
        }
        return handles
    }

    /// Whether this is the process that opened the store, not a forked child of it.
    var isOfThisProcess: Bool { generation == cp_fork_generation() }

    /// Throws `openedBeforeFork` in a forked child. Costs two loads.
    func checkProcess() throws(StoreError) {
        if !isOfThisProcess { throw .openedBeforeFork(path: directory) }
    }

    /// Whether other threads can get this storage from the registry.
    var isRegistered = false

    deinit {
        // A forked child must not close what it has inherited. It would free its parent's readers, remove its parent's
        // files, and drop its own locks on them, which end when any descriptor of the file is closed.
        guard isOfThisProcess else { return }
        for reader in idleReaders.withLock({ $0 }) { reader.end() }
        heldVersions.end()
        writeLock.end()
        flushing?.end()
        pageMap.endGuard()
        engine_close(environment)
        if durability == .memory {
            page.ifAlone(in: directory) {
                StoreFolder.remove(StoreFolder.all, in: directory)
                if ownsFolder { rmdir(directory) }
            }
        }
        if isRegistered { StorageRegistry.closed(directory, number) }
    }

    /// Throws the error of `code`, unless it is success.
    @inline(__always)
    func check(_ code: Int32, _ operation: @autoclosure () -> String) throws(StoreError) {
        if code != 0 { throw error(code, operation()) }
    }

    func error(_ code: Int32, _ operation: String) -> StoreError {
        if code == MDB_MAP_FULL {
            flushing?.expectNoRoom()
            return .mapFull(limitBytes: mapBytes)
        }
        // A call that reads beyond the end of a truncated file is left with this code.
        if code == MDB_CORRUPTED, StoreFile.isCut(environment) { pageMap.noteCut() }
        if code == MDB_CORRUPTED, let cutFailure { return cutFailure }
        // LMDB reports a partial write as EIO.
        if code == EIO, StoreFile.isFull(environment, directory) { return .diskFull(path: directory) }
        return LMDB.error(code, operation, path: directory)
    }

    func error(_ failure: EngineFailure, _ operation: String) -> StoreError {
        if failure.code != 0 { return error(failure.code, operation) }
        return failure.error(operation, path: directory) { tablesByID[$0]?.schema }
    }

    /// Runs reads and turns an engine failure into an error of the store.
    @inline(__always)
    func reading<Result>(
        _ operation: @autoclosure () -> String, _ body: () throws(EngineFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(EngineFailure) {
            return try body()
        } catch {
            throw self.error(error, operation())
        }
    }

    // MARK: Space

    /// Called at the start of a write transaction, holding the write lock.
    func reserveForWrite() throws(StoreError) {
        // A write would extend a truncated file to its old length and hide the loss.
        if let cutFailure { throw cutFailure }
        if engine_is_broken(environment) { throw brokenFailure }
        try files?.checkAgain()
        if let flushing { try flushing.beforeWrite() } else { try files?.checkSometimes() }
        try reserved?.ensure()
    }

    private var brokenFailure: StoreError {
        .storage(
            operation: "write", code: MDB_CORRUPTED,
            reason: """
                an earlier write met a damaged page of the file at \(directory), and what it has changed by then is not known; \
                close the store and restore it from a backup, or write what is whole to a new one with Store.salvage
                """)
    }

    /// Error if the file was found to be truncated while open, else nil. Any thread.
    var cutFailure: StoreError? {
        guard pageMap.isCut else { return nil }
        return .storage(
            operation: "read", code: MDB_CORRUPTED,
            reason: """
                the file at \(directory) was cut short while it was open; close the store and restore it from a backup, or \
                write what is whole to a new one with Store.salvage
                """)
    }

    /// Makes room for a value of `bytes`, holding the write lock.
    @inline(__always)
    func reserve(_ bytes: Int) throws(StoreError) {
        if bytes > MapReservation.marginBytes / 4 { try reserved?.ensureBehindUse(bytes) }
    }

    /// Notes the address of a stored value. Requires the write lock.
    @inline(__always)
    func stored(at address: UnsafeRawPointer) throws(StoreError) { try reserved?.stored(at: address) }

    /// Bytes that the data file occupies on its file system.
    func fileBytes() -> Int {
        var status = stat()
        guard fstat(StoreFile.descriptor(environment), &status) == 0 else { return 0 }
        return Int(status.st_blocks) * 512
    }
}
