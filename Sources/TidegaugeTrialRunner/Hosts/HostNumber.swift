// Checks numbers that an agent sends on arrival, so that no later sum or difference of them overflows. An invalid
// number is a fault of the host, not of the store.
import TidegaugeMeasure
import TidegaugeTrial

/// A number out of the range that agents of this trial can send.
struct HostNumber: Error, CustomStringConvertible {
    /// Maximum absolute time on a clock in ns: 36 years, so that a difference of two times and the drift fit.
    static let mostNs: Int64 = 1 << 60
    /// Maximum distance in ns of a time from now: one day each for the warm-up, the window and slow machines.
    static let mostAwayNs: Int64 = 3 * 86_400_000_000_000
    /// Maximum absolute version.
    static let mostVersion: Int64 = 1 << 62
    /// Maximum of a CPU time in ns.
    static let mostUsedNs: Int64 = 1 << 54

    let description: String

    init(_ what: String, _ value: some BinaryInteger, _ reason: String) {
        description = "\(what) \(value): \(reason); its agent is damaged, or is none"
    }

    static func check<Value: BinaryInteger>(_ what: String, _ value: Value, in range: ClosedRange<Value>)
        throws(HostNumber)
    {
        guard range.contains(value) else {
            throw HostNumber(what, value, "it lies outside \(range.lowerBound) to \(range.upperBound)")
        }
    }

    static func checkVersion(_ version: Int64) throws(HostNumber) {
        try check("version", version, in: -mostVersion...mostVersion)
    }
}

/// Checks numbers that one host sends.
struct HostNumbers {
    /// The current time on the host's clock.
    let nowNs: Int64
    /// Maximum number of commits of one of its writers.
    let mostCommits: Int

    func checkMoment(_ what: String, _ ns: Int64) throws(HostNumber) {
        try HostNumber.check(what, ns, in: nowNs - HostNumber.mostAwayNs...nowNs + HostNumber.mostAwayNs)
    }

    func check(_ records: [CommitRecord], behind count: Int) throws(HostNumber) {
        try HostNumber.check("a number of commits", count + records.count, in: 0...mostCommits)
        for record in records {
            for time in CommitRecord.times { try checkMoment("a moment of a commit", record[keyPath: time]) }
            try HostNumber.checkVersion(record.version)
        }
    }

    func check(_ report: HostFaultReport) throws(HostNumber) {
        try checkMoment("the moment of a fault", report.hitNs)
        if let ns = report.releasedNs { try checkMoment("the end of a fault", ns) }
        if let ns = report.lastCommittedNs { try checkMoment("the last commit", ns) }
        if let version = report.lastVersion { try HostNumber.checkVersion(version) }
        try HostNumber.check("a number of commits", report.committed, in: 0...mostCommits)
    }

    func check(_ report: HostReport) throws(HostNumber) {
        let cpu = report.cpu
        for ns in [cpu.processNs, cpu.harnessNs, cpu.spunNs] + cpu.roleNs.values {
            try HostNumber.check("a CPU time", ns, in: -HostNumber.mostUsedNs...HostNumber.mostUsedNs)
        }
        try HostNumber.check("a number of commits", cpu.commits, in: 0...Int(HostNumber.mostUsedNs))
    }

    func check(_ seen: HostObservation, _ callbacks: [CallbackRecord], indices: Int) throws(HostNumber) {
        try checkMoment("the moment of a subscription", seen.subscribedNs)
        try checkMoment("the end of an observation", seen.endNs)
        for callback in callbacks {
            try checkMoment("the moment of a callback", callback.enterNs)
            // 0 means that the callback has not ended.
            if callback.exitNs != 0 { try checkMoment("the end of a callback", callback.exitNs) }
            try HostNumber.checkVersion(callback.version)
            try HostNumber.check("a number of rows", callback.count, in: 0...Int64(Int32.max))
            let counts = [callback.deletionCount, callback.insertionCount, callback.modificationCount].map(Int64.init)
            let all = counts.reduce(0, +)
            for count in counts { try HostNumber.check("a number of indices", count, in: 0...Int64(Int32.max)) }
            try HostNumber.check("a number of indices", all, in: 0...Int64(Int32.max))
            if callback.flags.contains(.indicesLost) { continue }
            try HostNumber.check(
                "a place of indices", callback.indexOffset, in: 0...Int64(indices))
            try HostNumber.check("a number of indices", all, in: 0...Int64(indices) - callback.indexOffset)
        }
    }
}
