// The end of a trial: everything is cancelled, one more commit is made that would concern everyone, and nobody may be
// called for it.
import Measure
import StoreDriver

enum Silence {
    /// Cancels, commits, closes the store and ends the sites.
    /// - Returns: one violation per observer that was called after its subscription had been cancelled.
    static func check(_ store: any DrivenStore, _ watch: Watch, _ logs: [ObserverLog]) throws -> [String] {
        watch.cancel()
        let cancelledNs = MonotonicClock.nowNs()
        // A new row at the top of the scores, which every `match` share includes.
        let item = Item(
            key: .max - 1, group: 0, score: Score.make(upper: 1 << 31 - 1, serial: Int(UInt32.max) - 1), stamp: -1)
        let writer = try store.makeWriter()
        _ = try [Change(.insert, item)].withUnsafeBufferPointer { try writer.commit($0, locked: {}) }
        try store.close()
        watch.stop()
        return logs.compactMap { log in
            let records = log.observer.recorder.records
            guard let late = (log.count..<records.count).first(where: { records[$0].enterNs > cancelledNs }) else {
                return nil
            }
            return "silence: \(log.observer.name) was called (callback \(late), version \(records[late].version)) "
                + "after its subscription had been cancelled"
        }
    }
}
