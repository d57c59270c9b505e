// Slows commits down.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeStatistics

/// Time added to a commit after it is made.
enum CommitDelay: Sendable {
    /// CPU time for each commit after the first 63, as a share of the median time of recent commits.
    case cpu(share: Double)
    /// Sleeps that in total last for a share of the commit times (`WaitDebt`). See `Shim.waitShare`.
    case sleep(share: Double)
    /// CPU time for each of the `SlowCommits`, as a share of its own duration.
    case half(share: Double)
    /// A sleep after one commit in `every`.
    case tail(every: Int, lengthNs: Int64)
    /// A minimum duration of each commit.
    case lasting(ns: Int64)
}

/// Selects the commits of a writer to slow down: about half of them, in a pseudo-random order that a periodic pattern
/// of the store cannot match.
enum SlowCommits {
    static func contains(_ number: Int) -> Bool { SplitMix64.mix(UInt64(number) &+ SplitMix64.step) & 1 == 1 }
}

/// Wraps a writer; used on the writer's thread.
final class SlowWriter: StoreWriter {
    private let writer: any StoreWriter
    private let delays: [CommitDelay]
    private var made = 0
    private var burner: Burner?
    private var debt: WaitDebt?

    init(_ writer: any StoreWriter, _ delays: [CommitDelay]) {
        (self.writer, self.delays) = (writer, delays)
        for case .cpu(let share) in delays { burner = Burner(share: share) }
        for case .sleep(let share) in delays { debt = WaitDebt(share: share) }
    }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        let beginNs = MonotonicClock.nowNs()
        let version = try writer.commit(changes, locked: locked)
        let endNs = MonotonicClock.nowNs()
        for delay in delays {
            switch delay {
            case .cpu: burner?.burn(after: endNs - beginNs)
            case .sleep: wait(after: endNs - beginNs)
            case .half(let share):
                if SlowCommits.contains(made) { Self.spin(untilNs: endNs + Int64(Double(endNs - beginNs) * share)) }
            case .tail(let every, let lengthNs):
                if (made + 1).isMultiple(of: every) { Pacing.sleep(untilNs: MonotonicClock.nowNs() + lengthNs) }
            case .lasting(let ns): Self.spin(untilNs: beginNs + ns)
            }
        }
        made += 1
        return version
    }

    private func wait(after lengthNs: Int64) {
        guard let askedNs = debt?.sleepNs(after: lengthNs) else { return }
        let beginNs = MonotonicClock.nowNs()
        Pacing.sleep(untilNs: beginNs + askedNs)
        debt?.slept(MonotonicClock.nowNs() - beginNs, asked: askedNs)
    }

    private static func spin(untilNs: Int64) { while MonotonicClock.nowNs() < untilNs {} }
}

/// Uses CPU in proportion to the typical commit time. It counts turns of a loop, because reading a thread's CPU clock
/// may cost more than the share.
private struct Burner {
    private static let window = 63

    private let share: Double
    private let turnsPerNs: Double
    private var turns = 0
    /// Commit times since the last update of the median.
    private var lengthsNs: [Int64] = []
    /// Stored so that the compiler cannot remove the loop.
    private var residue: UInt64 = 1

    init(share: Double) {
        self.share = share
        lengthsNs.reserveCapacity(Self.window)
        // Takes the fastest of five runs, because others may have been interrupted.
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
