// A store with a flaw on purpose: see `Shim`. Everything else passes through.
//
// A writer belongs to its thread and a sink to its site, so neither count needs a lock.
import Measure
import Scenario
import StoreDriver

/// A driver's store behind a shim.
final class ShimmedStore: ForwardingStore, @unchecked Sendable {
    let store: any DrivenStore
    private let shim: Shim

    init(_ store: any DrivenStore, _ shim: Shim) {
        self.store = store
        self.shim = shim
    }

    /// The store itself where there is no shim.
    static func wrapping(_ store: any DrivenStore, _ shim: Shim?) -> any DrivenStore {
        shim.map { ShimmedStore(store, $0) } ?? store
    }

    func makeWriter() throws -> any StoreWriter { ShimmedWriter(try store.makeWriter(), shim) }
    func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any Subscription {
        let sink: any DeliverySink = shim.lingerEvery > 0 ? ShimmedSink(sink, shim) : sink
        return try store.subscribe(to: query, at: site, sink: sink)
    }
}

private final class ShimmedWriter: StoreWriter {
    private let writer: any StoreWriter
    private let shim: Shim
    private var commits = 0
    private var burner: Burner

    init(_ writer: any StoreWriter, _ shim: Shim) {
        self.writer = writer
        self.shim = shim
        burner = Burner(share: shim.spinShare)
    }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        let startNs = MonotonicClock.nowNs()
        let version = try writer.commit(changes, locked: locked)
        burner.burn(after: MonotonicClock.nowNs() - startNs)
        commits += 1
        if shim.tailEvery > 0, commits.isMultiple(of: shim.tailEvery) {
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + shim.tailNs)
        }
        return version
    }
}

/// Uses CPU in proportion to what commits typically take. It counts instead of looking at a clock: a share of a few
/// microseconds is less than the clock of a thread's CPU costs to read.
private struct Burner {
    private static let window = 63

    private let share: Double
    private let turnsPerNs: Double
    private var turns = 0
    /// The commits since the last look at their median.
    private var lengthsNs: [Int64] = []
    /// Kept, so that no compiler leaves the turns out.
    private var residue: UInt64 = 1

    init(share: Double) {
        self.share = share
        lengthsNs.reserveCapacity(Self.window)
        // The quickest of a few: the others were interrupted.
        let probe = 200_000
        var bestNs = Int64.max
        for _ in 0..<5 {
            let startNs = MonotonicClock.nowNs()
            residue = Self.turn(residue, probe)
            bestNs = min(bestNs, MonotonicClock.nowNs() - startNs)
        }
        turnsPerNs = Double(probe) / Double(max(bestNs, 1))
    }

    mutating func burn(after lengthNs: Int64) {
        residue = Self.turn(residue, turns)
        lengthsNs.append(lengthNs)
        guard lengthsNs.count == Self.window else { return }
        lengthsNs.sort()
        turns = Int(Double(lengthsNs[Self.window / 2]) * share * turnsPerNs)
        lengthsNs.removeAll(keepingCapacity: true)
    }

    @inline(never)
    private static func turn(_ start: UInt64, _ count: Int) -> UInt64 {
        var value = start
        for _ in 0..<count { value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407 }
        return value
    }
}

private final class ShimmedSink: DeliverySink, @unchecked Sendable {
    private let sink: any DeliverySink
    private let shim: Shim
    private var callbacks = 0

    init(_ sink: any DeliverySink, _ shim: Shim) {
        self.sink = sink
        self.shim = shim
    }

    func deliver(_ delivery: borrowing Delivery) {
        sink.deliver(delivery)
        callbacks += 1
        if callbacks.isMultiple(of: shim.lingerEvery) {
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + shim.lingerNs)
        }
    }

    func fail(_ error: any Error) { sink.fail(error) }
}
