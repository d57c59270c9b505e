// The public handle of a store: opening, writing, reading, maintenance.
import Foundation

/// An embedded, observable object store. Any thread.
///
///     let store = try Store(.init(path: "notes", models: [Note.self]))
///     try store.write { try $0.add(Note()) }
///     let connection = try store.connect(on: .runLoop)
///     let token = try connection.objects(Note.self).observe { change in … }
///
/// Several `Store` values on one path in one process share one environment. Many processes may have it open.
public final class Store: Sendable {
    /// Settings for opening a store. While a process has a store open, its further openings must have the same
    /// durability and schema version, and no models that the first opening lacks.
    public struct Configuration: Sendable {
        /// Folder of the store, created if missing. For `.memory`, a name: unless the folder is on a memory file
        /// system, the data are placed on one.
        public var path: String
        /// Classes that the store can hold.
        public var models: [StoredObject.Type]
        /// Failures that a commit survives.
        public var durability: Durability
        /// Address space reserved for the file in bytes, which limits the file's size. Reserving it is free. Must be
        /// the same in every process.
        public var mapBytes: Int
        /// Version of the models. New models and new properties need no higher version. A higher version is required if
        /// a property was removed (the file keeps its values, hidden) or became optional. A changed property type, a
        /// property that is no longer optional, another primary key, and a new name under which the values are kept
        /// require a `migration` block too.
        public var schemaVersion: UInt64
        /// Permissions of the store's files, as for `chmod`. The owner always has access. A folder created for the
        /// store can be entered by those who may read the files. `.memory` outside of a memory file system is always
        /// owner-only. Existing files keep their mode.
        public var fileMode: UInt32
        /// Time that opening waits for other processes: for one that opens or migrates the store, and for the write
        /// lock. nil waits without limit.
        public var openTimeout: Duration?
        /// Called if the file has a lower version, inside the transaction that opens the store. If it throws, the file
        /// and its version stay unchanged. Runs on the opening thread, while no other process has the store open.
        public var migration: (@Sendable (Migration) throws -> Void)?
        /// Longest sleep in ns of the thread that keeps queries up to date. nil sleeps until a commit or a request
        /// wakes it, so that instruction counts do not depend on time. The commit of a writer that was killed before
        /// waking it is then delivered with the next commit.
        package var upkeepPollNs: Int64? = Upkeep.pollNs
        /// Clock of that thread in ns.
        package var upkeepNowNs = Upkeep.nowNs

        /// Schedule of background flushes.
        package var flushes = FlushPlan()

        /// Durability is `.full` unless chosen otherwise.
        public init(
            path: String, models: [StoredObject.Type], durability: Durability = .full, mapBytes: Int = 64 << 30,
            fileMode: UInt32 = 0o600, openTimeout: Duration? = .seconds(60), schemaVersion: UInt64 = 0,
            migration: (@Sendable (Migration) throws -> Void)? = nil
        ) {
            self.path = path
            self.models = models
            self.durability = durability
            self.mapBytes = mapBytes
            self.fileMode = fileMode
            self.openTimeout = openTimeout
            self.schemaVersion = schemaVersion
            self.migration = migration
        }
    }

    /// Configuration that the store was opened with.
    public let configuration: Configuration
    let core: StoreCore

    /// Opens a store, creating it if there is none. Waits up to `openTimeout` for other processes.
    ///
    /// After a `fork` the child must open the store again. Stores inherited from the parent refuse work, and releasing
    /// them leaves the parent's resources alone.
    /// - Throws: `cannotOpen`, `schemaMismatch`, `schemaTooNew`, `migrationNeedsAll`, `migrationMisuse`,
    ///   `invalidModel`, `tooManyTables`, `tooManySnapshots`, `diskFull`, `mapFull`; `damaged` or `storage` if the file
    ///   cannot be read or written; what the migration block throws, and after it `duplicatePrimaryKey`,
    ///   `primaryKeyTooLong` and `valueTooLong`.
    public init(_ configuration: Configuration) throws {
        self.configuration = configuration
        let limit = TimeLimit(configuration.openTimeout)
        let directory = try configuration.directory()
        let storage = try StorageRegistry.storage(directory.path) {
            try Storage.open(
                directory, durability: configuration.durability, mapBytes: configuration.mapBytes,
                schema: SchemaRequest(
                    models: configuration.models.map { ModelLayout.declaration(of: $0) },
                    version: configuration.schemaVersion,
                    migration: configuration.migration.map { Migration.running($0) }),
                flushes: configuration.flushes, limit: limit)
        }
        guard storage.durability == configuration.durability, storage.schemaVersion == configuration.schemaVersion,
            configuration.models.allSatisfy({ storage.tables[ObjectIdentifier($0)] != nil })
        else {
            throw StoreError.cannotOpen(
                path: configuration.path,
                reason: """
                    this process has it open with other models, or another durability or schema version; use the same \
                    configuration
                    """)
        }
        core = StoreCore(storage, upkeepPollNs: configuration.upkeepPollNs, upkeepNowNs: configuration.upkeepNowNs)
        for model in configuration.models { ModelLayout.of(model).warnOfUnstored() }
    }

    /// Runs `body` in a write transaction and commits it. If `body` throws, changes that it has not committed itself
    /// are discarded. The connection and the objects read from it must not be used after the block. Waits for other
    /// writers. With tokens, may also wait after the commit, as `Connection.write` does.
    /// - Parameters:
    ///   - timeout: time to wait for the write lock. nil waits without limit; 0 and negative values try once.
    ///   - tokens: observers of this store that are not notified of this commit.
    /// - Throws: what `Connection.write` throws, except `frozen`.
    @available(*, noasync, message: "pass a block in braces, so that the write suspends the task")
    @discardableResult
    public func write<Result>(
        timeout: Duration? = nil, withoutNotifying tokens: [NotificationToken] = [],
        _ body: (Connection) throws -> Result
    ) throws -> Result {
        let connection = BlockConnection(self, at: nil)
        defer { connection.end() }
        return try connection.write(timeout: timeout, withoutNotifying: tokens, body)
    }

    /// Runs `body` on the newest version. Never waits for writers. The connection must not be used after the block. Any
    /// thread.
    /// - Throws: what `body` throws; `closed`, `openedBeforeFork`, `tooManySnapshots`. `damaged` or `storage` if the
    ///   file cannot be read, even if the block returned a value. The first error that the block met where it could not
    ///   be thrown, such as that of a query that was counted, or `unknownValue` of a property.
    @available(*, noasync, message: "pass a block in braces, so that the read takes the asynchronous form")
    public func read<Result>(_ body: (Connection) throws -> Result) throws -> Result { try readNow(body) }

    /// Runs `body` on the newest version. It has a separate name for asynchronous callers, for which `read` is the
    /// variant that suspends.
    func readNow<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try core.checkOpen()
        let snapshot = try core.storage.openSnapshot()
        let connection = BlockConnection(self, at: snapshot)
        defer { connection.end() }
        let result = Swift.Result { try body(connection) }
        // Read errors take precedence over the result of the block.
        try snapshot.checkReads()
        if let failure = connection.failure { throw failure }
        return try result.get()
    }

    /// Returns once every earlier commit of any process survives a power cut. No commit of a `.memory` store does. Any
    /// thread.
    /// - Throws: `storage` if the disk failed; `replaced` if the store's files are no longer at its path; `cannotOpen`
    ///   if the path cannot be checked; `tooManySnapshots`, `closed`, `openedBeforeFork`.
    public func synchronize() throws {
        try core.checkOpen()
        try core.storage.synchronize()
    }

    /// Stops deliveries and refuses further work on this handle and its connections, except reading versions that they
    /// hold. Any thread, also inside a callback. The file is closed when everything that belongs to the store has been
    /// released, such as connections, tokens and frozen collections.
    ///
    /// The last commits of `.relaxed` are flushed then too, and a disk error is only logged. Call
    /// `closeAndSynchronize()` to get the error.
    public func close() { core.close() }

    /// Closes the store as `close()` does. Returns once every earlier commit survives a power cut. The store is closed
    /// even if this throws. Any thread.
    /// - Throws: `storage` with the operation `flush` if the disk failed: commits since the last flush are lost when
    ///   the store is opened again. `replaced` if the store's files are no longer at its path; `cannotOpen` if the path
    ///   cannot be checked; `tooManySnapshots`, `openedBeforeFork`.
    public func closeAndSynchronize() throws {
        core.close()
        try core.storage.synchronize()
    }

    /// Number of versions that the file keeps: from the oldest one that any process reads to the newest. If it grows,
    /// something is held for too long; `oldestPin` tells what. Any thread. O(readers).
    public var activeVersions: Int { core.storage.activeVersions() }

    /// Holder of the oldest version in any process. nil if no version before the newest is held. Any thread.
    /// O(readers).
    ///
    /// While an old version is held, each commit of one row takes about 20 KB of file, and 4 KB per level of the
    /// table's tree (28 KB at 10,000 rows). After 16 to 256 commits (more in a larger file) and up to 50 ms, the
    /// version is copied to memory instead; see `heldBytes`. Versions held by a process that is stopped, or that
    /// neither writes nor observes, stay in the file.
    public var oldestPin: VersionPin? { core.storage.oldestPin() }

    /// Bytes of memory in this process that hold pages of old versions, as of frozen collections, lagging connections
    /// and long `read` blocks. Any thread. O(1).
    public var heldBytes: Int { core.storage.heldVersions.copiedBytes.load(ordering: .relaxed) }

    /// Writes a copy of the newest version to `path`, without free pages. `path` is a folder that holds no store.
    /// Others may read and write meanwhile. Any thread. O(content). Holds one version until it returns.
    /// - Throws: `cannotOpen`, `diskFull`, `storage`, `tooManySnapshots`, `closed`, `openedBeforeFork`; then no new
    ///   store is at `path`.
    public func compact(to path: String) throws {
        try core.checkOpen()
        try core.storage.copyCompactly(to: path)
    }

    /// Shrinks the file of a store to its content. No process may have the store open, including this one. Any thread.
    /// O(content); needs free space for a copy of the content. If it fails, the content stays unchanged.
    /// - Throws: `storeInUse`, `cannotOpen`, `diskFull`, `storage`.
    public static func compact(_ configuration: Configuration) throws {
        let limit = TimeLimit(configuration.openTimeout)
        let directory = try configuration.directory()
        try Compaction.compactInPlace(directory, mapBytes: configuration.mapBytes, limit: limit)
    }

    /// Bytes that the file occupies on its file system.
    public var fileBytes: Int { core.storage.fileBytes() }
}

extension Store.Configuration {
    fileprivate func directory() throws -> StoreDirectory { try StoreDirectory(path, durability, FileModes(fileMode)) }
}
