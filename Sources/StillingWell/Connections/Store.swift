// The face of a store: open it, write to it, read from it, connect to it where things are observed.
import Foundation

/// An embedded, observable object store. Any thread.
///
///     let store = try Store(.init(path: "notes", models: [Note.self]))
///     try store.write { try $0.add(Note()) }
///     let connection = try store.connect(on: .runLoop)
///     let token = try connection.objects(Note.self).observe { change in … }
///
/// Several stores on one path in one process share one environment, and many processes may have it open.
public final class Store: Sendable {
    /// What a store is opened with. The same for everyone in a process who opens it.
    public struct Configuration: Sendable {
        /// The folder of the store; made if it does not exist. For `.memory`, a name: unless the folder is on a memory
        /// file system already, the data lie on one.
        public var path: String
        /// The classes that the store can hold.
        public var models: [StoredObject.Type]
        /// What a commit survives.
        public var durability: Durability
        /// Address space reserved for the file, and so the limit of its size. Costs nothing until it is used. The same
        /// for every process.
        public var mapBytes: Int
        /// The program's version of its models. New models, and new properties in any place, need no higher one. What
        /// does: a property that is gone (its values are kept in the file, hidden), one that became optional; and, with a
        /// `migration` block, one of another type or not optional any more, another primary key, a new name.
        public var schemaVersion: UInt64
        /// Who may read and write the store's files, as of `chmod`: the owner always, and nobody else unless asked for
        /// here. A folder that is made for the store can be entered by who may read the files. For `.memory` without a
        /// folder on a memory file system always the owner alone. Files that are there keep the mode they have.
        public var fileMode: UInt32
        /// Seconds for which opening waits for other processes: for one that opens or migrates the store, and for a writer
        /// to give the write lock back. Infinity waits as long as it takes.
        public var openTimeoutSeconds: Double
        /// Called when the file has a lower version, inside the transaction that opens it: if it throws, the file stays
        /// as it was, and so does its version. On the opening thread, with no other process at the store.
        public var migration: (@Sendable (Migration) throws -> Void)?
        /// How long upkeep sleeps at most; nil: until a commit wakes it, so that what it does depends on commits alone, which
        /// is for who counts instructions. What a writer killed before it rang has committed then waits for the next one.
        package var upkeepPollNs: Int64? = Upkeep.pollNs
        /// Upkeep's clock, in nanoseconds.
        package var upkeepNowNs = Upkeep.nowNs

        /// When what nobody waits for comes to the disk.
        package var flushes = FlushPlan()

        /// Durability is `.full` unless chosen otherwise.
        public init(
            path: String, models: [StoredObject.Type], durability: Durability = .full, mapBytes: Int = 64 << 30,
            fileMode: UInt32 = 0o600, openTimeoutSeconds: Double = 60, schemaVersion: UInt64 = 0,
            migration: (@Sendable (Migration) throws -> Void)? = nil
        ) {
            self.path = path
            self.models = models
            self.durability = durability
            self.mapBytes = mapBytes
            self.fileMode = fileMode
            self.openTimeoutSeconds = openTimeoutSeconds
            self.schemaVersion = schemaVersion
            self.migration = migration
        }
    }

    /// What the store was opened with.
    public let configuration: Configuration
    let core: StoreCore

    /// Opens a store, making it if there is none. Waits for other processes for `openTimeoutSeconds` at most.
    ///
    /// After a `fork` the child opens the store again; what it has inherited is refused, and lets go of nothing of its
    /// parent's.
    /// - Throws: `cannotOpen`, `invalidTimeout`, `schemaMismatch`, `schemaTooNew`, `migrationNeedsAll`, `invalidModel`, `diskFull`, and
    ///   what a migration block throws.
    public init(_ configuration: Configuration) throws {
        self.configuration = configuration
        let limit = try TimeLimit(seconds: configuration.openTimeoutSeconds, "openTimeoutSeconds")
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

    /// Runs `body` in a write transaction and commits it; if `body` throws, nothing is changed. The connection given to
    /// it, and the objects read from it, end with the block. Waits for other writers and for nothing else; with tokens, after
    /// the commit, for upkeep where that is far behind.
    /// - Parameters:
    ///   - timeout: seconds to wait for the write lock: nil and infinity wait as long as it takes; one that is over
    ///     already, 0 or negative, tries once.
    ///   - tokens: those of this store that are not to hear of this commit.
    /// - Throws: what `body` throws; `writeInsideWrite`, `writeTimedOut`, `invalidTimeout`, `diskFull`, `foreignToken`, `closed`,
    ///   and with tokens `tooManySnapshots`. `storage` of the operation `flush` where the disk did not take it: then it can be seen, and is
    ///   gone once the store has been opened again. `replaced` if the store's files are not at its path any more.
    @discardableResult
    public func write<Result>(
        timeout: Double? = nil, withoutNotifying tokens: [NotificationToken] = [], _ body: (Connection) throws -> Result
    ) throws -> Result {
        let connection = BlockConnection(self, at: nil)
        defer { connection.end() }
        return try connection.write(timeout: timeout, withoutNotifying: tokens, body)
    }

    /// Runs `body` on the newest version. Waits for nobody. The connection given to it ends with the block. Any thread.
    /// - Throws: what `body` throws; `closed`, `tooManySnapshots`; and, whatever the block made of it, `storage` when anything that
    ///   was read in it lies on a damaged page, and what is wrong with a query that was counted or iterated in it.
    public func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try core.checkOpen()
        let snapshot = try core.storage.openSnapshot()
        let connection = BlockConnection(self, at: snapshot)
        defer { connection.end() }
        let result = Swift.Result { try body(connection) }
        // What the engine has reported, and what a query of the block could not say, come before what the block made of it.
        try snapshot.checkReads()
        if let failure = connection.failure { throw failure }
        return try result.get()
    }

    /// Returns once everything that was committed before, by whatever process, survives a power cut. Of a `.memory` store nothing
    /// does. Any thread.
    /// - Throws: `storage` where the disk does not take it; `replaced` if the store's files are not at its path any more; `closed`.
    public func synchronize() throws {
        try core.checkOpen()
        try core.storage.synchronize()
    }

    /// Stops deliveries and refuses further work through this handle and its connections. Any thread, inside a callback
    /// too. The file is closed when the last connection and frozen collection is gone.
    ///
    /// That is also when the last commits of `.relaxed` are flushed, and an error of the disk is only logged then. A program that has to know
    /// calls `closeAndSynchronize()`.
    public func close() { core.close() }

    /// Closes the store as `close()` does, and returns once everything that was committed before survives a power cut. Any thread. If it
    /// throws, the store is closed all the same.
    /// - Throws: `storage` of the operation `flush` if the disk did not take it: commits since the last flush are gone once the store is
    ///   opened again. `replaced` if the store's files are not at its path any more.
    public func closeAndSynchronize() throws {
        core.close()
        try core.storage.synchronize()
    }

    /// How many versions the file keeps: the newest, and all since the oldest that is still read, by whatever process.
    /// A number that grows shows that something is held for too long; `oldestPin` tells what. Any thread. O(readers).
    public var activeVersions: Int { core.storage.activeVersions() }

    /// What holds the oldest version, by whatever process; nil when nothing older than the newest is held. Any thread. O(readers).
    ///
    /// Each commit of one row takes about 26 KB of file while an old version is held (20, and 4 for each level of the
    /// table's tree: 28 with ten thousand rows), for the first 256 commits and 50 ms; from then on it is held in memory, which
    /// `heldBytes` tells. What a process holds that is stopped, or neither writes nor observes, stays in the file.
    public var oldestPin: VersionPin? { core.storage.oldestPin() }

    /// Memory of this process that keeps pages of versions that are held for long: frozen collections, connections that lag,
    /// `read` blocks that last. For each, at most as much as the file had when it was found to lag. Any thread. O(1).
    public var heldBytes: Int { core.storage.heldVersions.copiedBytes.load(ordering: .relaxed) }

    /// Writes a copy of the newest version to `path`, a folder that holds no store yet, without the free pages of the
    /// file. Others may read and write meanwhile. Any thread. O(content); holds one version for as long as it takes.
    /// - Throws: `cannotOpen`, `diskFull`, `tooManySnapshots`, `closed`; then nothing is left at `path`.
    public func compact(to path: String) throws {
        try core.checkOpen()
        try core.storage.copyCompactly(to: path)
    }

    /// Makes the file of a store as small as its content. Nobody may have it open: not this process, nor another one. Any
    /// thread. O(content); needs as much free space as the content takes. If it fails the file stays as it was.
    /// - Throws: `storeInUse`, `cannotOpen`, `diskFull`.
    public static func compact(_ configuration: Configuration) throws {
        let limit = try TimeLimit(seconds: configuration.openTimeoutSeconds, "openTimeoutSeconds")
        let directory = try configuration.directory()
        try Compaction.compactInPlace(directory, mapBytes: configuration.mapBytes, limit: limit)
    }

    /// Bytes that the file occupies on its file system.
    public var fileBytes: Int { core.storage.fileBytes() }
}

extension Store.Configuration {
    fileprivate func directory() throws -> StoreDirectory { try StoreDirectory(path, durability, FileModes(fileMode)) }
}
