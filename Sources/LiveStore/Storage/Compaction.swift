// Copies of a store that hold its content and no free pages: to another folder while the store is in use, or in place
// of the file when nobody uses it. The engine writes pages in order and leaves out what is free.
import CLMDB
import Foundation

extension Storage {
    /// Copies the newest version into `folder`, which is made if it does not exist.
    func copyCompactly(to folder: String) throws { try Compaction.copy(environment, to: folder) }
}

enum Compaction {
    /// Replaces the file of a store that nobody has open by one without free pages.
    static func compactInPlace(_ directory: StoreDirectory, mapBytes: Int) throws {
        let path = directory.path
        guard access(path + "/data.mdb", F_OK) == 0 else {
            throw StoreError.cannotOpen(path: path, reason: "there is no store to compact; correct the path")
        }
        try StorageRegistry.withoutStorage(path) {
            // Held to the end: it keeps other processes from opening the store meanwhile.
            let page = try SharedPage(directory: path)
            defer { withExtendedLifetime(page) {} }
            guard page.wasAlone else { throw StoreError.storeInUse(path: path) }
            let copy = path + "/compact"
            try? FileManager.default.removeItem(atPath: copy)
            defer { try? FileManager.default.removeItem(atPath: copy) }
            try withEnvironment(path, mapBytes: mapBytes) { environment in
                try StoreFile.checkLength(environment, path, isAlone: true)
                try Self.copy(environment, to: copy)
            }
            // The rename is the one step in which the old file becomes the new one.
            guard rename(copy + "/data.mdb", path + "/data.mdb") == 0 else {
                throw FolderLock.failure("replace data.mdb", path)
            }
            try synchronize(path)
        }
    }

    private static func withEnvironment(_ path: String, mapBytes: Int, _ body: (OpaquePointer) throws -> Void) throws {
        var environment: OpaquePointer?
        try LMDB.check(mdb_env_create(&environment), "create", path: path)
        defer { mdb_env_close(environment) }
        try LMDB.check(mdb_env_set_mapsize(environment, mapBytes), "set map size", path: path)
        try LMDB.check(mdb_env_set_maxreaders(environment, Storage.maxReaders), "set readers", path: path)
        let code = mdb_env_open(environment, path, UInt32(MDB_NOTLS), 0o644)
        if code != 0 { throw StoreFile.openingError(code, path) }
        try body(environment!)
    }

    fileprivate static func copy(_ environment: OpaquePointer, to folder: String) throws {
        let file = folder + "/data.mdb"
        guard access(file, F_OK) != 0 else {
            throw StoreError.cannotOpen(path: file, reason: "it exists; copy to another folder, or remove it")
        }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw StoreError.cannotOpen(
                path: folder, reason: "the folder cannot be made (\(error)); choose another one")
        }
        let code = mdb_env_copy2(environment, folder, UInt32(MDB_CP_COMPACT))
        guard code == 0 else {
            // Half a copy must not be taken for a store.
            unlink(file)
            throw code == EIO && StoreFile.isFull(environment, folder)
                ? StoreError.diskFull(path: folder) : LMDB.error(code, "copy", path: folder)
        }
        try synchronize(file)
    }

    /// Makes sure that a file or a folder's list of files survives a power cut.
    private static func synchronize(_ path: String) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw FolderLock.failure("synchronize", path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw FolderLock.failure("synchronize", path) }
    }
}
