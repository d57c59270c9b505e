// What stands beside the writers and observers of a trial: probes that measure, faults that are put in, a neighbouring store,
// late subscribers, pins of versions. All are told of the same moments, in the order below. Which of them a trial has, and in what
// order they are told, stands in `Companions`.

/// Something beside the load of one trial. Every call comes on the conducting thread.
protocol Companion: AnyObject {
    /// Writers are ready and warm up; the measured window is to come.
    func warmUp(_ window: Window) throws
    /// The measured window begins now.
    func begin(_ window: Window) throws
    /// Every 10 ms while writers write, so long after the start of the window.
    func look(_ sinceNs: Int64) throws
    /// The last writer has made its last commit; deliveries may still be on their way.
    func loadEnded()
    /// Everything has been delivered: ends what was begun and says what it has found.
    func end(into findings: inout Findings) throws
    /// Cancels its subscriptions, before a last commit that nobody may be called for.
    func cancel() throws
    /// The store is closed: gives back what is left, and says what was wrong with it.
    func close(into findings: inout Findings) throws
}

extension Companion {
    func warmUp(_ window: Window) throws {}
    func begin(_ window: Window) throws {}
    func look(_ sinceNs: Int64) throws {}
    func loadEnded() {}
    func end(into findings: inout Findings) throws {}
    func cancel() throws {}
    func close(into findings: inout Findings) throws {}
}
