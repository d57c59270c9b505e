// The earliest times at which deliveries can show commits: `at` of a delivery cannot precede the beginning of a commit
// that the delivery shows. A delivery may come before the reply to its commit, so both orders are checked.
import StillingWellBasis

/// Beginnings of the latest commits, and deliveries that came while commits waited for their replies. Used under one
/// lock.
struct CommitBounds {
    private struct Bound {
        let version: Int64
        /// Latest beginning of this commit and of all known commits of lower versions.
        var begunNs: Int64
    }

    private struct Shown {
        let subscription: Int
        let version: Int64
        let atNs: Int64
    }

    /// Maximum number of commits and of deliveries that are kept.
    private static let most = 1024

    /// Ascending by version.
    private var bounds: [Bound] = []
    private var shown: [Shown] = []

    /// Adds a commit whose reply has come.
    /// - Parameter othersWait: whether other commits wait for their replies.
    /// - Returns: the failure of an earlier delivery, or nil.
    mutating func commit(_ version: Int64, begunNs: Int64, othersWait: Bool) -> ProcessFailure? {
        defer { if !othersWait { shown.removeAll() } }
        let place = bounds.partitioningIndex { $0.version >= version }
        // A commit that changed nothing has the version of an earlier one.
        if place < bounds.count, bounds[place].version == version { return nil }
        if let early = shown.first(where: { $0.version >= version && $0.atNs < begunNs }) {
            return Self.failure(early, begunNs)
        }
        let earlierNs = place > 0 ? bounds[place - 1].begunNs : .min
        bounds.insert(Bound(version: version, begunNs: max(earlierNs, begunNs)), at: place)
        var later = place + 1
        while later < bounds.count, bounds[later].begunNs < begunNs {
            bounds[later].begunNs = begunNs
            later += 1
        }
        if bounds.count > Self.most { bounds.removeFirst(Self.most / 2) }
        return nil
    }

    /// Checks a delivery.
    /// - Parameter commitsWait: whether commits wait for their replies.
    /// - Returns: its failure, or nil.
    mutating func delivery(
        of subscription: Int, version: Int64, atNs: Int64, commitsWait: Bool
    ) -> ProcessFailure? {
        let delivery = Shown(subscription: subscription, version: version, atNs: atNs)
        let place = bounds.partitioningIndex { $0.version > version }
        if place > 0, atNs < bounds[place - 1].begunNs { return Self.failure(delivery, bounds[place - 1].begunNs) }
        if commitsWait { shown.append(delivery) }
        if shown.count > Self.most { shown.removeFirst(Self.most / 2) }
        return nil
    }

    private static func failure(_ delivery: Shown, _ begunNs: Int64) -> ProcessFailure {
        ProcessFailure(
            .time,
            "a delivery of subscription \(delivery.subscription) shows version \(delivery.version) and states 'at' "
                + "\(delivery.atNs), before a commit that it shows began, at \(begunNs): take 'at' when its rows can be used"
        )
    }
}
