// Copies of a store with its content and without free pages: to another folder while the store is in use, or in place
// of the file while no process has the store open. LMDB writes the pages in order and leaves out free ones.
import CStillingWellEngine
import CStillingWellLMDB
import Foundation

extension Storage {
    /// Copies the newest version into `folder`, which is made if it does not exist.
    func copyCompactly(to folder: String) throws { try Compaction.copy(environment, to: folder, modes) }
}

enum Compaction {
    /// Replaces the file of a store that is not open by a copy without free pages.
    static func compactInPlace(_ directory: StoreDirectory, mapBytes: Int, limit: TimeLimit) throws {
        let path = directory.path
        guard try FileIdentity.at(path + "/" + StoreFolder.data) != nil else {
            throw StoreError.cannotOpen(path: path, reason: "there is no store to compact; correct the path")
        }
        try directory.alone(limit) {
            let copy = path + "/" + StoreFolder.compact
            try? FileManager.default.removeItem(atPath: copy)
            defer { try? FileManager.default.removeItem(atPath: copy) }
            try withEnvironment(path, mapBytes: mapBytes, directory.modes) { environment in
                try StoreFile.checkLength(environment, path, isAlone: true)
                try Self.copy(environment, to: copy, directory.modes)
            }
            // The rename atomically replaces the old file.
            guard rename(copy + "/data.mdb", path + "/data.mdb") == 0 else {
                throw FolderLock.failure("replace data.mdb", path)
            }
            try StoreFolder.synchronize(path)
        }
    }

    private static func withEnvironment(
        _ path: String, mapBytes: Int, _ modes: FileModes, _ body: (OpaquePointer) throws -> Void
    ) throws {
        let environment = try LMDB.makeEnvironment(mapBytes: mapBytes, path: path)
        defer { engine_close(environment) }
        let code = engine_open(environment, path, UInt32(MDB_NOTLS), modes.file)
        if code != 0 { throw StoreFile.openingError(code, path) }
        try body(environment)
    }

    fileprivate static func copy(_ environment: OpaquePointer, to folder: String, _ modes: FileModes) throws {
        let path = folder + "/" + StoreFolder.data
        try StoreFolder.make(folder, modes)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, modes.file)
        guard file >= 0 else {
            guard errno == EEXIST else { throw FolderLock.failure("make", path) }
            throw StoreError.cannotOpen(path: path, reason: "it exists; copy to another folder, or remove it")
        }
        defer { close(file) }
        fchmod(file, modes.file)
        let code = mdb_env_copyfd2(environment, file, UInt32(MDB_CP_COMPACT))
        guard code == 0 else {
            // An incomplete copy must not be taken for a store.
            unlink(path)
            throw code == EIO && StoreFile.isFull(environment, folder)
                ? StoreError.diskFull(path: folder) : LMDB.error(code, "copy", path: folder)
        }
        guard fsync(file) == 0 else {
            let error = FolderLock.failure("synchronize", path)
            unlink(path)
            throw error
        }
    }
}
