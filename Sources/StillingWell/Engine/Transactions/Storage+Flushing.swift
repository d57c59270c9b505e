// How a store's commits come to be on the disk.
import CStillingWellLMDB

extension Storage {
    /// What is known of the file before the engine opens it, where its commits are to survive a power cut.
    static func recover(
        _ folder: StoreDirectory, _ page: SharedPage, isNew: Bool, _ plan: FlushPlan, _ durability: Durability
    ) throws(StoreError) -> Recovery? {
        guard page.wasAlone, !isNew, durability != .memory else { return nil }
        let recovery = try Recovery(folder.path, folder.modes, boot: plan.boot, isForced: page.hadFailedFlush)
        // Where nothing is flushed nothing keeps what it leads to.
        if durability == .relaxed, !plan.isOn { StoreFolder.remove([StoreFolder.durable], in: folder.path) }
        return recovery
    }

    /// Returns once everything is on the disk that was committed before. Any thread.
    /// - Throws: `replaced` if the store's files are not at its path any more; `storage` if the disk does not take it.
    func synchronize() throws(StoreError) {
        try checkProcess()
        try files?.check()
        try flushing?.synchronize()
    }
}
