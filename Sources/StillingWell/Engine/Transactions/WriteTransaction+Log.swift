// The change log's entry of a commit. Written by the write transaction just before it commits.
import CStillingWellEngine
import CStillingWellLMDB

extension WriteTransaction {
    /// Stores the changed objects, and removes old entries now and then.
    func writeLog() throws(StoreError) {
        // An empty list means too many changes: followers compare snapshots.
        let listed = entries.count <= ChangeLog.maxEntriesPerCommit ? entries[...] : []
        try storage.reserve(ChangeLog.byteCount(listed.count))
        try storage.check(ChangeLog.append(listed, version, transaction, storage.log), "store log")
        if version % ChangeLog.pruneEvery == 0 { try pruneLog() }
    }

    /// Removes log entries that every follower has passed, and those beyond `maxVersions`, at most 128 at a time.
    private func pruneLog() throws(StoreError) {
        let followed = min(storage.page.oldestFollowedVersion(), version)
        let capped = version > ChangeLog.maxVersions ? version - ChangeLog.maxVersions : 0
        let limit = max(followed, capped)
        for _ in 0..<(2 * ChangeLog.pruneEvery) {
            let oldest = try storage.reading("prune log") { () throws(EngineFailure) in
                try LMDB.firstID(transaction, storage.log)
            }
            guard let oldest, oldest < limit else { return }
            try storage.check(LMDB.withNumber(oldest) { engine_del(transaction, storage.log, &$0, nil) }, "prune log")
        }
    }
}
