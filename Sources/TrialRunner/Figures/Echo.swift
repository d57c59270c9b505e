// What a host that writes has observed of its own commits: both on one clock, its own, so that no time between them is uncertain.
// Values only.
import Measure

struct Echo: Sendable {
    /// Its own, by number.
    let writers: Range<Int>
    /// On its clock.
    let window: Window
    /// When its observers were looked at last.
    let endNs: Int64
    /// What its writers did, on its clock.
    let records: [[CommitRecord]]
    /// What its observers were told.
    let logs: [ObserverLog]
}
