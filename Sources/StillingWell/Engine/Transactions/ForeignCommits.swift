// What a process does about the commits of others: rows that they have changed are checked again.
import CStillingWellLMDB

extension Storage {
    /// Of more versions the log is not read.
    private static let maxForeignVersions: UInt64 = 4_096

    /// Before anybody reads rows at `version`, where `transaction` stands.
    @inline(__always)
    func noticeForeignCommits(to version: UInt64, _ transaction: LMDBTransaction) {
        if !checkedVersions.isSynced(with: version) { forgetForeignRows(to: version, transaction) }
    }

    @inline(never)
    private func forgetForeignRows(to version: UInt64, _ transaction: LMDBTransaction) {
        checkedVersions.advance(to: version) { known, own in
            var changes: [LoggedChange]?
            if version - known <= Self.maxForeignVersions {
                // A log that cannot be read is an error to whoever needs it; here it says nothing.
                do throws(EngineFailure) {
                    changes = try ChangeLog.read(transaction, log, after: known, to: version)
                } catch {}
            }
            guard let changes else {
                for table in tablesByID.values { table.checked.removeAll() }
                return
            }
            for change in changes where change.version != own {
                tablesByID[change.entry.table]?.checked.remove(change.entry.id)
            }
        }
    }
}
