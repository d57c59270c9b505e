// Versions held by elements of asynchronous sequences. A program may keep any number of elements, and there is a limit
// of snapshots. So the oldest elements give their versions back when too many hold one. The locks are leaves.
import StillingWellSync

/// A snapshot until its last reference is released, or until it is called back.
final class LentSnapshot: Sendable {
    fileprivate let holder: Guarded<Snapshot?>
    private let number: UInt64
    private let list: LentSnapshots

    fileprivate init(_ holder: Guarded<Snapshot?>, _ number: UInt64, _ list: LentSnapshots) {
        (self.holder, self.number, self.list) = (holder, number, list)
    }

    deinit { list.forget(number) }

    /// nil after it was called back.
    var snapshot: Snapshot? { holder.withLock { $0 } }
}

final class LentSnapshots: Sendable {
    /// Number of lent snapshots above which the oldest is called back.
    static let most = 256

    private struct State {
        var next: UInt64 = 0
        var holders: [UInt64: Guarded<Snapshot?>] = [:]
    }

    private let state = Guarded("lent snapshots", State())

    /// Lends a snapshot. Calls the oldest one back if there are too many. Any thread.
    func lend(_ snapshot: Snapshot) -> LentSnapshot {
        let holder = Guarded<Snapshot?>("lent snapshot", snapshot)
        let (number, oldest) = state.withLock { state -> (UInt64, Guarded<Snapshot?>?) in
            let number = state.next
            state.next += 1
            state.holders[number] = holder
            guard state.holders.count > Self.most, let first = state.holders.keys.min() else { return (number, nil) }
            return (number, state.holders.removeValue(forKey: first))
        }
        // Released without the locks, because ending a snapshot takes others.
        let calledBack = oldest?.withLock { $0.take() }
        withExtendedLifetime(calledBack) {}
        return LentSnapshot(holder, number, self)
    }

    fileprivate func forget(_ number: UInt64) {
        let forgotten = state.withLock { $0.holders.removeValue(forKey: number) }
        withExtendedLifetime(forgotten) {}
    }
}
