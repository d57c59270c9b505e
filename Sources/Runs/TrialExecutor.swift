// How the parent gets a trial done: in a child process, or in a test by something simpler.
import Scenario
import Trials

/// Runs one trial at a time and always comes back.
public protocol TrialExecutor: AnyObject {
    /// - Parameter report: called now and then, on any thread.
    /// - Returns: a result whatever happened; its `fate` says what.
    func run(_ spec: TrialSpec, report: @escaping @Sendable (TrialProgress) -> Void) -> TrialResult
}
