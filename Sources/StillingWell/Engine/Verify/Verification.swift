// Selects the version of a file to verify: the newest one of an open store, held while it is read, or the last commit
// of a closed store.
import CStillingWellLMDB
import Foundation

extension Storage {
    /// Verifies the newest version. Other threads and processes may read and write meanwhile. O(pages of the file).
    /// - Throws: `replaced`, `storage`, `tooManySnapshots`, `cannotOpen`.
    func verify() throws(StoreError) -> FileReport {
        try files?.check()
        // Two commits between the start of the read and reading the headers overwrite the header of its version.
        for _ in 0..<1_000 {
            // Not a snapshot, which would read its version from the log.
            var held: LMDBTransaction?
            try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &held), "begin snapshot")
            defer { mdb_txn_abort(held) }
            let transaction = LMDB.number(of: held)
            let pages = FilePages(of: environment, directory)
            let first = pages.firstPages()
            guard let header = pages.headers(in: first).first(where: { $0.meta.transaction == transaction }) else {
                continue
            }
            let record = try Recovery.lastFlush(directory, first)
            let check = StoreCheck(pages, header.meta)
            if let record, record.transaction == transaction, record.header != header.bytes {
                check.noteHeader(header.meta.number)
            }
            check.run()
            return check.report
        }
        throw .cannotOpen(
            path: directory,
            reason: "neither header of its file is that of the newest version; restore it from a backup, or salvage it")
    }
}

enum Verification {
    /// Verifies the file of a closed store. O(pages of the file).
    static func verify(_ path: String, limit: TimeLimit) throws -> FileReport {
        try alone(path, limit) { path, _ in
            let check = try StoreCheck.newest(FilePages(path), path)
            check.run()
            return check.report
        }
    }

    /// Runs `body` with the folder of a closed store, which cannot be opened meanwhile.
    static func alone<Result>(
        _ place: String, _ limit: TimeLimit, _ body: (String, FileModes) throws -> Result
    ) throws -> Result {
        // A missing folder must not be made.
        guard try FileIdentity.at(place + "/" + StoreFolder.data) != nil else {
            throw StoreError.cannotOpen(path: place, reason: "there is no store; correct the path")
        }
        let directory = try StoreDirectory(place, .full, .owner)
        return try directory.alone(limit, mends: false) { try body(directory.path, directory.modes) }
    }
}
