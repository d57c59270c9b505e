// The face of a store: open it, write to it, read from it, connect to it where things are observed.
import CPlatform
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
        /// Called when the file has a lower version, inside the transaction that opens it: if it throws, the file stays
        /// as it was, and so does its version. On the opening thread, with no other process at the store.
        public var migration: (@Sendable (Migration) throws -> Void)?

        /// Durability is `.full` unless chosen otherwise.
        public init(
            path: String, models: [StoredObject.Type], durability: Durability = .full, mapBytes: Int = 64 << 30,
            schemaVersion: UInt64 = 0, migration: (@Sendable (Migration) throws -> Void)? = nil
        ) {
            self.path = path
            self.models = models
            self.durability = durability
            self.mapBytes = mapBytes
            self.schemaVersion = schemaVersion
            self.migration = migration
        }
    }

    /// What the store was opened with.
    public let configuration: Configuration
    let core: StoreCore

    /// Opens a store, making it if there is none.
    /// - Throws: `cannotOpen`, `schemaMismatch`, `schemaTooNew`, `migrationNeedsAll`, `invalidModel`, `diskFull`, and
    ///   what a migration block throws.
    public init(_ configuration: Configuration) throws {
        self.configuration = configuration
        let directory = try StoreDirectory(configuration)
        let storage = try StorageRegistry.storage(directory.path) {
            try Storage(
                directory: directory.path, ownsFolder: directory.isOwn, durability: configuration.durability,
                mapBytes: configuration.mapBytes,
                schema: SchemaRequest(
                    models: configuration.models, version: configuration.schemaVersion,
                    migration: configuration.migration))
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
        core = StoreCore(storage)
    }

    /// Runs `body` in a write transaction and commits it; if `body` throws, nothing is changed. The connection given to
    /// it, and the objects read from it, end with the block. Waits for other writers and for nothing else.
    /// - Parameters:
    ///   - timeout: seconds to wait for the write lock; nil waits as long as it takes.
    ///   - tokens: those of this store that are not to hear of this commit.
    /// - Throws: what `body` throws; `writeInsideWrite`, `writeTimedOut`, `diskFull`, `foreignToken`, `closed`.
    @discardableResult
    public func write<Result>(
        timeout: Double? = nil, withoutNotifying tokens: [NotificationToken] = [],
        _ body: (Connection) throws -> Result
    ) throws -> Result {
        let connection = Connection(self, reading: nil)
        defer { connection.endBlock() }
        return try connection.write(timeout: timeout, withoutNotifying: tokens) { try body(connection) }
    }

    /// Runs `body` on the newest version. Waits for nobody. The connection given to it ends with the block. Any thread.
    /// - Throws: what `body` throws; `closed`, `tooManySnapshots`.
    public func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try core.checkOpen()
        let connection = Connection(self, reading: try core.storage.openSnapshot())
        defer { connection.endBlock() }
        let result: Result
        do { result = try body(connection) } catch { throw connection.blockFailure ?? error }
        if let failure = connection.blockFailure { throw failure }
        return result
    }

    /// Stops deliveries and refuses further work through this handle and its connections. Any thread, inside a callback
    /// too. The file is closed when the last connection and frozen collection is gone.
    public func close() { core.close() }

    /// How many versions the file keeps: the newest, and all since the oldest that is still read, by whatever process.
    /// A number that grows shows that something is held for too long; `oldestPin` tells what. Any thread. O(readers).
    public var activeVersions: Int { core.storage.activeVersions() }

    /// What keeps the oldest version in the file, by whatever process; nil when nothing older than the newest is held.
    /// Any thread. O(readers).
    ///
    /// Each commit of one row takes about 26 KB of file while an old version is held (20, and 4 for each level of the
    /// table's tree: 28 with ten thousand rows), and nothing that is deleted meanwhile makes room.
    public var oldestPin: VersionPin? { core.storage.oldestPin() }

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
        let directory = try StoreDirectory(configuration)
        try Compaction.compactInPlace(directory, mapBytes: configuration.mapBytes)
    }

    /// Bytes that the file occupies on its file system.
    public var fileBytes: Int { core.storage.fileBytes() }
}

/// Where a store's files are.
struct StoreDirectory {
    /// Canonical.
    let path: String
    /// Whether the library has made the folder for itself.
    let isOwn: Bool

    /// Makes the folder.
    init(_ configuration: Store.Configuration) throws {
        try Self.make(configuration.path)
        let path = try Self.canonical(configuration.path)
        guard configuration.durability == .memory, !cp_is_memory_file_system(path) else {
            self.path = path
            isOwn = false
            return
        }
        let shared = "/dev/shm"
        guard cp_is_memory_file_system(shared) else {
            throw StoreError.cannotOpen(
                path: path, reason: "\(shared) is no memory file system; mount one, or put the store on one")
        }
        self.path = "\(shared)/livestore-\(getuid())\(path.replacingOccurrences(of: "/", with: "-"))"
        isOwn = true
        try Self.make(self.path)
    }

    private static func make(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw StoreError.cannotOpen(path: path, reason: "its folder cannot be made (\(error)); choose another path")
        }
    }

    private static func canonical(_ path: String) throws -> String {
        guard let resolved = realpath(path, nil) else {
            throw StoreError.cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

}
