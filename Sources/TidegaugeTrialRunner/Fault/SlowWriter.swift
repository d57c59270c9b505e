// Commits that take longer than they need: the one place where the harness slows a commit down, for the faults of scenarios
// and the shims of comparisons alike.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeStatistics

/// What a commit takes beyond its own time, once it is made.
enum CommitDelay: Sendable {
    /// CPU, each commit so much as a share of what commits typically take.
    case cpu(share: Double)
    /// A sleep, so much as a share of what commits take: see `Shim.waitShare`.
    case sleep(share: Double)
    /// Those of `SlowCommits`, each a share of the time that it took.
    case half(share: Double)
    /// One commit in so many.
    case tail(every: Int, lengthNs: Int64)
    /// Each lasts so long at least.
    case lasting(ns: Int64)
}

/// Which of a writer's commits are slowed down: half of them, in no order that a store's own rhythm could fall in step with.
enum SlowCommits {
    static func contains(_ number: Int) -> Bool { SplitMix64.mix(UInt64(number) &+ SplitMix64.step) & 1 == 1 }
}

/// Stands in front of a writer; on its thread.
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
