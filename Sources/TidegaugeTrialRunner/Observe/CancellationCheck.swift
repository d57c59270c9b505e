// Checks the end of a trial: cancels everything, makes one more commit, which every query that reaches to the highest
// score would see, and verifies that no cancelled observer is called. A late subscriber on every delivery context shows
// when that commit has been delivered; without it, the absence of calls would prove nothing.
import TidegaugeDriver
import TidegaugeMeasure

enum CancellationCheck {
    private static let topScore = Score.make(upper: 1 << 31 - 1, serial: Int(UInt32.max) - 1)

    /// Cancels, commits, waits for the late subscribers, closes the store and stops the delivery contexts.
    /// - Parameter cancelOthers: cancels subscriptions that do not belong to `group`.
    /// - Returns: one violation for each observer that was called after its cancellation, and for each late
    ///   subscriber that was not called for the commit.
    static func check(
        _ store: any DrivenStore, _ group: ObserverGroup, _ logs: [ObserverLog], cancelOthers: () throws -> Void
    ) throws -> [String] {
        let late = try group.subscribeLate(to: Query(scores: topScore..<Int64.max), store)
        try cancelOthers()
        group.cancel()
        let cancelledNs = MonotonicClock.nowNs()
        let item = Item(key: .max - 1, group: 0, score: topScore, stamp: -1)
        let writer = try store.makeWriter()
        let version = try [Change(.insert, item)].withUnsafeBufferPointer { try writer.commit($0, locked: {}) }
        let deaf = try group.await(late, covering: version ?? 0)
        for subscriber in late { subscriber.subscription?.cancel() }
        try store.close()
        for observer in group.observers + late { observer.forget() }
        group.stop()
        return deaf.map { "convergence: a late subscription on \($0.site.name) was not called for a commit" }
            + logs.compactMap { log in
                log.observer.late(from: log.count, cancelledNs: cancelledNs).map {
                    "call after cancel: \(log.observer.name) was called (callback \($0.callback), version \($0.version)) after its "
                        + "subscription had been cancelled"
                }
            }
    }
}
