// Makes an echo from a host's messages, and the goal of the host's observers.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

extension Echo {
    /// - Parameter plan: query assignment of the trial.
    init(_ station: HostStation, _ window: Window, _ plan: QueryAssignment) throws {
        let (link, host) = (station.link, station.link.host.name)
        let isDistant = station.writers.isEmpty
        let startNs = isDistant ? window.startNs : link.clock.remote(window.startNs)
        let sites = Set(station.observations.map(\.site)).map {
            ($0, DeliveryContext("observer-\($0) on \(host)", .queue))
        }
        let siteOf = Dictionary(uniqueKeysWithValues: sites)
        let logs = try station.observations.map { seen in
            guard plan.queryOfObserver.indices.contains(seen.observer), let site = siteOf[seen.site] else {
                throw link.fault("it sent records of observer \(seen.observer), which does not exist")
            }
            let (callbacks, indices, items) = try link.reading {
                (
                    try seen.callbacks.elements(most: station.most.callbacks),
                    try seen.indices.elements(most: station.most.indices),
                    try seen.items.elements(most: station.most.items)
                )
            }
            try link.reading { try station.numbers.check(seen, callbacks, indices: indices.count) }
            let observer = Observer(
                "observer \(seen.observer) on \(host)", query: plan.queryOfObserver[seen.observer], site: site,
                recorder: try CallbackRecorder(isDistant ? station.local(callbacks) : callbacks, indices: indices),
                showing: ShownItems(items),
                subscribedNs: isDistant ? station.local(seen.subscribedNs) : seen.subscribedNs)
            return ObserverLog(observer)
        }
        self.init(
            writers: station.writers, window: Window(startNs: startNs, endNs: startNs + window.lengthNs),
            endNs: station.observations.map { isDistant ? station.local($0.endNs) : $0.endNs }.max() ?? startNs,
            records: station.shownRecords, logs: logs,
            shown: try link.reading {
                try station.observations.first?.shown.map { Data(try $0.elements(most: station.most.shown)) }
            })
    }

    /// Returns what the host's observers have to cover. For each query, it is the version of the last commit such that
    /// this commit and the later ones have a net effect.
    /// - Parameter tokens: tokens of the versions, if versions are known only after the trial; otherwise nil.
    static func goal(_ history: History, _ tokens: [Int64: Int64]?) -> HostGoal {
        // The net effect is computed only from the last 64 commits on, because it is expensive.
        let most = 64
        let ends = history.queries.map { query in
            let count = query.commits.count
            let last = (max(0, count - most)..<count).last { !query.net($0..<count).isEmpty }
            return query.commits.prefix(last.map { $0 + 1 } ?? 0).suffix(most).map {
                history.commits[Int($0)].record.version
            }
        }
        return HostGoal(
            versions: ends.map(\.last),
            tokens: tokens.map { tokens in ends.map { versions in versions.compactMap { tokens[$0] } } })
    }
}

/// The rows that a subscription in another process showed last.
final class ShownItems: DriverSubscription {
    private let items: [Item]

    init(_ items: [Item]) { self.items = items }

    func cancel() {}
    func currentItems() throws -> [Item] { items }
}
