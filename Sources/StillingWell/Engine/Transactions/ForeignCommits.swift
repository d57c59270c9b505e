// Commits of other processes: rows that they changed have to be checked again.
import CStillingWellLMDB

extension Storage {
    /// Maximum number of versions for which the log is read. Beyond it, all rows have to be checked again.
    private static let maxForeignVersions: UInt64 = 4_096

    /// Clears the bits of rows changed by other processes. Called before rows of `transaction`, at `version`, are read.
    @inline(__always)
    func noticeForeignCommits(to version: UInt64, _ transaction: LMDBTransaction) {
        if !checkedVersions.isSynced(with: version) { forgetForeignRows(to: version, transaction) }
    }

    @inline(never)
    private func forgetForeignRows(to version: UInt64, _ transaction: LMDBTransaction) {
        checkedVersions.advance(to: version) { known, own in
            var changes: [LoggedChange]?
            if version - known <= Self.maxForeignVersions {
                // If the log cannot be read, all bits are cleared. Code that needs the log throws the error itself.
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
