// Observers in a process of a host, which may also write. They have the queries of the trial's own measured observers.
// They record here, and the trial checks their records. Used by the conducting thread of the process.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

struct BesideObservers {
    private let group: ObserverGroup
    private let late: (any LateVersions)?

    /// Subscribes the observers and returns when each has been called once.
    init(_ spec: TrialSpec, _ store: any DrivenStore) throws {
        var own = spec
        own.observers.idleQueries = 0
        late = store as? any LateVersions
        group = try ObserverGroup(own, QueryAssignment(own), store)
        try group.awaitInitialDeliveries()
    }

    /// Returns when each observer has covered its goal, or when callbacks have ceased.
    func settle(_ goal: HostGoal) throws {
        try group.awaitCovering { observer in
            if let late, let tokens = goal.tokens {
                guard tokens.indices.contains(observer.query) else { return true }
                return tokens[observer.query].allSatisfy { late.shows(delivery: observer.covered, commit: $0) }
            }
            guard goal.versions.indices.contains(observer.query), let version = goal.versions[observer.query] else {
                return true
            }
            return observer.covered >= version
        }
    }

    /// Returns the records and the current rows of the observers, and cancels them.
    func frames() throws -> [HostFrame] {
        let endNs = MonotonicClock.nowNs()
        let logs = try group.logs()
        let shown = try late.map { PackedArray(Array(try $0.shown())) }
        let frames = try logs.enumerated().flatMap { number, log in
            try HostObservation(
                observer: number, site: number % group.sites.count, subscribedNs: log.observer.subscribedNs,
                endNs: endNs, callbacks: PackedArray(Array(log.records)),
                indices: PackedArray(log.observer.recorder.allIndices),
                items: PackedArray(try group.currentItems(of: log.observer)), shown: number == 0 ? shown : nil
            ).frames()
        }
        group.cancel()
        return frames
    }
}
