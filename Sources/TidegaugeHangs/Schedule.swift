// An interleaving as a value: whoever runs goes on for as long as it can, and then the first that can, but for the steps
// named here. So the text of a schedule is short, and taking a switch out of it leaves a schedule.
import StillingWellBasis

/// Where an interleaving departs from the default.
public struct Schedule: Sendable, Equatable, CustomStringConvertible {
    /// By step: the thread that goes on there.
    public var switches: [Int: Int] = [:]

    public init() {}

    /// Reads what `description` gives; nil where it is none.
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

    /// `12:2,40:0`: at step 12 thread 2 goes on, at step 40 thread 0; `-` where nothing departs from the default.
    public var description: String {
        if switches.isEmpty { return "-" }
        return switches.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
    }

    static func defaultChoice(_ enabled: [Int], current: Int) -> Int {
        enabled.contains(current) ? current : enabled[0]
    }
}

/// A schedule again.
public final class ReplayedSchedule: ScheduleStrategy {
    private let schedule: Schedule

    public init(_ schedule: Schedule) { self.schedule = schedule }

    public func choose(_ enabled: [Int], current: Int, step: Int) -> Int {
        if let wanted = schedule.switches[step], enabled.contains(wanted) { return wanted }
        return Schedule.defaultChoice(enabled, current: current)
    }
}

/// Any of those that can go on, at every step.
public final class RandomSchedule: ScheduleStrategy {
    private var random: SplitMix64

    public init(seed: UInt64) { random = SplitMix64(seed: seed) }

    public func choose(_ enabled: [Int], current: Int, step: Int) -> Int { enabled[random.below(enabled.count)] }
}

/// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010): threads have random
/// priorities, the highest that can goes on, and at d − 1 random steps the running thread's becomes the lowest. A run of n
/// threads and k steps meets a bug of depth d with a probability of 1/(n·k^(d−1)) at least.
public final class PCTSchedule: ScheduleStrategy {
    private var random: SplitMix64
    private var priorities: [Int: Int] = [:]
    /// Steps at which a priority drops, to what.
    private var drops: [Int: Int] = [:]
    private let depth: Int

    /// - Parameter steps: how long a run is, about.
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
