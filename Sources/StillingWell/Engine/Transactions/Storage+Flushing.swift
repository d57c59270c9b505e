// Flushing of a store's commits to the disk.
import CStillingWellLMDB

extension Storage {
    /// Recovers the file before LMDB opens it. Returns nil for a new store, one in memory, or one that is open
    /// elsewhere.
    static func recover(
        _ folder: StoreDirectory, _ page: SharedPage, isNew: Bool, _ plan: FlushPlan, _ durability: Durability
    ) throws(StoreError) -> Recovery? {
        guard page.wasAlone, !isNew, durability != .memory else { return nil }
        let recovery = try Recovery(folder.path, folder.modes, boot: plan.boot, isForced: page.hadFailedFlush)
        // Without flushes nothing keeps the pages that the record refers to, so the record is removed.
        if durability == .relaxed, !plan.isOn { StoreFolder.remove([StoreFolder.durable], in: folder.path) }
        return recovery
    }

    /// Returns once everything committed before the call is on the disk, or at once if nothing flushes the store. Any
    /// thread.
    /// - Throws: `openedBeforeFork`; errors of `HeldFiles.check` and `Flushing.synchronize`.
    func synchronize() throws(StoreError) {
        try checkProcess()
        try files?.check()
        try flushing?.synchronize()
    }
}
