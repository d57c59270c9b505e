// What a host has observed: of its own commits, both on one clock, its own, so that no time between them is uncertain; or, where it
// does not write, of those of others, on the trial's clock, as well as that is known. Values only.
import Foundation
import TidegaugeMeasure

struct Echo: Sendable {
    /// Its own, by number; none where it only observes.
    let writers: Range<Int>
    /// On its clock, or on the trial's where it only observes; so is all that follows.
    let window: Window
    /// When its observers were looked at last.
    let endNs: Int64
    /// What its writers did.
    let records: [[CommitRecord]]
    /// What its observers were told.
    let logs: [ObserverLog]
    /// Where versions are known only afterwards: see `LateVersions.shown`.
    var shown: Data?
}
