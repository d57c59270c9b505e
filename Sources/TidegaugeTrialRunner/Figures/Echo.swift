// Observations of a host, as values. If the host writes, all times are on its clock, so no clock uncertainty applies to
// its own commits. Otherwise they are converted to the trial's clock.
import Foundation
import TidegaugeMeasure

struct Echo: Sendable {
    /// The host's own writers by number; empty if it only observes.
    let writers: Range<Int>
    /// On the host's clock, or on the trial's clock if it only observes; the following times likewise.
    let window: Window
    /// Time of the last look at its observers.
    let endNs: Int64
    /// Commit records of its writers.
    let records: [[CommitRecord]]
    /// Logs of its observers.
    let logs: [ObserverLog]
    /// Versions that are known only after the trial; see `LateVersions.shown`.
    var shown: Data?
}
