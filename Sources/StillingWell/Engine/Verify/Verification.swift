// Which version of a file is looked at: of an open store the newest, held while it is read; of one that nobody has open, the last
// that was committed.
import CStillingWellLMDB
import Foundation

extension Storage {
    /// Looks at the newest version. Others may read and write meanwhile. O(pages of the file).
    /// - Throws: `replaced`, `storage`, `tooManySnapshots`.
    func verify() throws(StoreError) -> FileReport {
        try files?.check()
        // Two commits between the start of a read and the look at the meta pages take the page of its version away.
        for _ in 0..<1_000 {
            // No snapshot of the store's, which asks the log for its version.
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
    /// Looks at the file of a store that nobody has open. O(pages of the file).
    static func verify(_ path: String, limit: TimeLimit) throws -> FileReport {
        try alone(path, limit) { path, _ in
            let check = try StoreCheck.newest(FilePages(path), path)
            check.run()
            return check.report
        }
    }

    /// Runs `body` with a store's folder that nobody has open, nor can open meanwhile.
    static func alone<Result>(
        _ place: String, _ limit: TimeLimit, _ body: (String, FileModes) throws -> Result
    ) throws -> Result {
        // A folder that is not there is not made.
        guard try FileIdentity.at(place + "/" + StoreFolder.data) != nil else {
            throw StoreError.cannotOpen(path: place, reason: "there is no store; correct the path")
        }
        let directory = try StoreDirectory(place, .full, .owner)
        return try directory.alone(limit, mends: false) { try body(directory.path, directory.modes) }
    }
}
