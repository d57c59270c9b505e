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

        /// Durability is `.full` unless chosen otherwise.
        public init(
            path: String, models: [StoredObject.Type], durability: Durability = .full, mapBytes: Int = 64 << 30
        ) {
            self.path = path
            self.models = models
            self.durability = durability
            self.mapBytes = mapBytes
        }
    }

    /// What the store was opened with.
    public let configuration: Configuration
    let core: StoreCore

    /// Opens a store, making it if there is none.
    /// - Throws: `cannotOpen`, `schemaMismatch`, `invalidModel`, `diskFull`.
    public init(_ configuration: Configuration) throws {
        self.configuration = configuration
        let directory = try StoreDirectory.prepare(configuration)
        let storage = try StorageRegistry.storage(directory) {
            try Storage(
                directory: directory, durability: configuration.durability, mapBytes: configuration.mapBytes,
                models: configuration.models)
        }
        guard storage.durability == configuration.durability,
            configuration.models.allSatisfy({ storage.tables[ObjectIdentifier($0)] != nil })
        else {
            throw StoreError.cannotOpen(
                path: configuration.path,
                reason: "this process has it open with other models or another durability; use the same configuration")
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

    /// Runs `body` on the newest version. Waits for nobody. The connection given to it ends with the block.
    public func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try core.checkOpen()
        let connection = Connection(self, reading: try core.storage.openSnapshot())
        defer { connection.endBlock() }
        return try body(connection)
    }

    /// Stops deliveries and refuses further work through this handle and its connections. Any thread, inside a callback
    /// too. The file is closed when the last connection and frozen collection is gone.
    public func close() { core.close() }

    /// Bytes that the file occupies on its file system.
    public var fileBytes: Int { core.storage.fileBytes() }
}

/// Where a store's files are.
private enum StoreDirectory {
    /// Makes the folder and returns its canonical path.
    static func prepare(_ configuration: Store.Configuration) throws -> String {
        try make(configuration.path)
        let path = try canonical(configuration.path)
        guard configuration.durability == .memory, !cp_is_memory_file_system(path) else { return path }
        let shared = "/dev/shm"
        guard cp_is_memory_file_system(shared) else {
            throw StoreError.cannotOpen(
                path: path, reason: "\(shared) is no memory file system; mount one, or put the store on one")
        }
        let inMemory = "\(shared)/livestore-\(getuid())\(path.replacingOccurrences(of: "/", with: "-"))"
        try make(inMemory)
        return inMemory
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
