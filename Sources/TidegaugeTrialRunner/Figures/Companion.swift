// Calls that the companions of a trial get. The writers (`WritingSide`) are companions too. `Companions` selects and
// orders them.

/// A companion of one trial's load. All calls come on the conducting thread, which runs the steps of the trial.
protocol Companion: AnyObject {
    /// The writers are ready and warm up; the measured window has not begun.
    func warmUp(_ window: Window) throws
    /// The measured window begins.
    func begin(_ window: Window) throws
    /// Called about every 10 ms from the start of the window to the end of the load, with the time in ns since the
    /// former.
    func look(_ sinceNs: Int64) throws
    /// The last commit has been made; deliveries may still be under way.
    func loadEnded()
    /// The wait for deliveries has ended. Ends the companion's work and reports its findings.
    func end(into findings: inout Findings) throws
    /// Cancels its subscriptions before a last commit, for which none of them may be called.
    func cancel() throws
    /// The store is closed. Releases the remaining resources and reports violations.
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
