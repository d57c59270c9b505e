// An interleaving as a value. By default the running thread continues as long as it can, and then the first that can.
// Only departures from that are listed, so that texts are short and a schedule without one of its switches is a
// schedule.
import StillingWellBasis

/// The departures of an interleaving from the default.
public struct Schedule: Sendable, Equatable, CustomStringConvertible {
    /// Thread that continues, by step.
    public var switches: [Int: Int] = [:]

    public init() {}

    /// Parses a `description`. Returns nil if it is malformed.
    public init?(_ text: String) {
        if text == "-" { return }
        for part in text.split(separator: ",") {
            let numbers = part.split(separator: ":").map { Int($0) }
            guard numbers.count == 2, let step = numbers[0], let thread = numbers[1], step >= 0, thread >= 0 else {
                return nil
            }
            switches[step] = thread
        }
        if switches.isEmpty { return nil }
    }

    /// Text such as `12:2,40:0`: thread 2 continues at step 12, thread 0 at step 40. `-` for the default schedule.
    public var description: String {
        if switches.isEmpty { return "-" }
        return switches.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
    }

    static func defaultChoice(_ enabled: [Int], current: Int) -> Int {
        enabled.contains(current) ? current : enabled[0]
    }
}

/// A strategy that repeats a schedule.
public final class ReplayedSchedule: ScheduleStrategy {
    private let schedule: Schedule

    public init(_ schedule: Schedule) { self.schedule = schedule }

    public func choose(_ enabled: [Int], current: Int, step: Int) -> Int {
        if let wanted = schedule.switches[step], enabled.contains(wanted) { return wanted }
        return Schedule.defaultChoice(enabled, current: current)
    }
}

/// A strategy that chooses any enabled thread at random at every step.
public final class RandomSchedule: ScheduleStrategy {
    private var random: SplitMix64

    public init(seed: UInt64) { random = SplitMix64(seed: seed) }

    public func choose(_ enabled: [Int], current: Int, step: Int) -> Int { enabled[random.below(enabled.count)] }
}

/// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010). Threads have random
/// priorities and the highest enabled one runs. At up to d − 1 random steps the running thread gets a priority below
/// all initial ones. The paper's bound for the probability that a run of n threads and k steps meets a bug of depth d
/// is 1/(n·k^(d−1)).
public final class PCTSchedule: ScheduleStrategy {
    private var random: SplitMix64
    private var priorities: [Int: Int] = [:]
    /// New priorities of the running thread, by step.
    private var drops: [Int: Int] = [:]
    private let depth: Int

    /// - Parameter steps: approximate length of a run.
    public init(depth: Int, steps: Int, seed: UInt64) {
        self.depth = depth
        random = SplitMix64(seed: seed)
        for level in 1..<max(depth, 1) { drops[random.below(max(steps, 1))] = level }
    }

    public func choose(_ enabled: [Int], current: Int, step: Int) -> Int {
        for thread in enabled where priorities[thread] == nil {
            priorities[thread] = depth + random.below(1 << 30)
        }
        if let level = drops[step] {
            let running = enabled.contains(current) ? current : highest(enabled)
            priorities[running] = level
        }
        return highest(enabled)
    }

    private func highest(_ enabled: [Int]) -> Int { enabled.max { priorities[$0]! < priorities[$1]! }! }
}

extension SplitMix64 {
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
