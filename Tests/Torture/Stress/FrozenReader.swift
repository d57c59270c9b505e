// Holds frozen results for a while and reads them on a queue of its own. They must not have changed. Holds one
// result at a time, and so one version.
import StillingWell
import StillingWellSync
import Synchronization

struct FrozenRows: Sendable {
    let version: UInt64
    let rows: @Sendable () -> [RowValue]
}

final class FrozenReader: Sendable {
    private static let none = Int.max
    private let queue = TracedQueue("frozen reader")
    private let isBusy = Atomic<Bool>(false)
    private let heldVersion = Atomic<Int>(none)

    /// Freezes now and compares with `shown` later, unless another result is held. May be called on any thread.
    func take(_ load: Load, _ who: String, holdUs: Int, _ freeze: () throws -> FrozenRows, _ shown: [RowValue]) {
        guard !isBusy.exchange(true, ordering: .acquiringAndReleasing) else { return }
        guard let frozen = load.expectNoError(who, freeze) else {
            return isBusy.store(false, ordering: .releasing)
        }
        heldVersion.store(Int(frozen.version), ordering: .relaxed)
        check(frozen, shown, load, who, holdUs)
    }

    private func check(_ frozen: FrozenRows, _ shown: [RowValue], _ load: Load, _ who: String, _ holdUs: Int) {
        queue.async { [self] in
            sleep(us: holdUs)
            load.verdict.expectNone(
                .i2, Difference.first("frozen", frozen.rows(), "shown then", shown),
                "\(who), frozen at version \(frozen.version)")
            load.tally.count(.frozenResults)
            if load.pulse.version >= Int(frozen.version) + Limits.commitsOfLongHold { load.tally.count(.heldForLong) }
            heldVersion.store(Self.none, ordering: .relaxed)
            isBusy.store(false, ordering: .releasing)
        }
    }

    /// The version that is held, or `.max`. May be read on any thread.
    var oldestKept: Int { heldVersion.load(ordering: .relaxed) }
}
