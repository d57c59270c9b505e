// The search for a schedule under which a program goes wrong, and for the shortest such schedule. One search at a time in a
// process. A run that hangs leaves its threads asleep for good, so a search ends with the first failure and its shrinking.
import StillingWellBasis
import StillingWellSync

/// A program whose interleavings are searched.
public struct ExploredProgram: Sendable {
    /// Runs it on a thread under control; what it starts by `TracedThread` or `RunLoopThread` is under control too.
    /// - Returns: what went wrong, or nil.
    public var body: @Sendable () -> String?

    public init(_ body: @escaping @Sendable () -> String?) { self.body = body }
}

/// A schedule under which a program went wrong.
public struct FoundSchedule: Sendable {
    public var schedule: Schedule
    /// A sentence.
    public var reason: String
    /// Of a hang: who waits for whom; `thread>resource` each.
    public var cycle: [String]
    /// Schedules tried up to this one, it included.
    public var tried: Int
    /// Which strategy came upon it.
    public var strategy: String
    /// Nobody could go on, or it did not come to an end; otherwise a promise was broken.
    public var isHang = true
}

public struct Explorer {
    public var program: ExploredProgram
    /// How long a run is, in steps: the longest seen.
    public private(set) var longestRun = 1
    public private(set) var tried = 0
    private let maximumShrinks = 150

    public init(_ program: ExploredProgram) { self.program = program }

    /// What one schedule does; nil where all goes well.
    public mutating func run(_ strategy: any ScheduleStrategy, _ name: String) -> FoundSchedule? {
        let complaint = PlainMutex<String?>(nil)
        let program = program
        let (end, schedule, steps) = ScheduleControl.run(strategy) {
            let reason = program.body()
            complaint.with { $0 = reason }
        }
        longestRun = max(longestRun, steps)
        tried += 1
        var found = FoundSchedule(
            schedule: schedule, reason: "it does not come to an end", cycle: [], tried: tried, strategy: name)
        switch end {
        case .completed:
            guard let reason = complaint.with({ $0 }) else { return nil }
            (found.reason, found.isHang) = (reason, false)
        case .tooLong: break
        case .stuck(let snapshot):
            let cycle = WaitForGraph(snapshot).cycles.first
            let waits = snapshot.threads.compactMap { thread in
                thread.wait.map { "'\(thread.name)' waits for \($0.resource.label) at \($0.place)" }
            }
            found.reason = cycle?.sentence ?? "nobody can go on: " + waits.joined(separator: "; ")
            found.cycle = cycle?.edges ?? []
        }
        return found
    }

    /// Tries the default schedule, then random ones and ones by PCT of depth 2 and 3, by turns.
    /// - Parameter progress: called after each schedule with how many there were.
    public mutating func search(schedules: Int, seed: UInt64, progress: (Int) -> Void = { _ in }) -> FoundSchedule? {
        if let found = run(ReplayedSchedule(Schedule()), "default") { return found }
        var random = SplitMix64(seed: seed)
        while tried < schedules {
            let next = random.next()
            let found =
                switch tried % 3 {
                case 0: run(RandomSchedule(seed: next), "random")
                case 1: run(PCTSchedule(depth: 2, steps: longestRun, seed: next), "PCT depth 2")
                default: run(PCTSchedule(depth: 3, steps: longestRun, seed: next), "PCT depth 3")
                }
            if let found { return found }
            progress(tried)
        }
        return nil
    }

    /// Takes out of a schedule every switch that it goes wrong without: halves first, then one by one (delta debugging,
    /// Zeller and Hildebrandt 2002).
    public mutating func shrink(_ found: FoundSchedule) -> FoundSchedule {
        var best = found
        var size = max(1, best.schedule.switches.count / 2)
        var runs = 0
        while runs < maximumShrinks {
            let steps = best.schedule.switches.keys.sorted()
            var hasShrunk = false
            for start in stride(from: 0, to: steps.count, by: size) where runs < maximumShrinks {
                var schedule = best.schedule
                for step in steps[start..<min(start + size, steps.count)] { schedule.switches[step] = nil }
                runs += 1
                guard var smaller = run(ReplayedSchedule(schedule), best.strategy),
                    smaller.schedule.switches.count < best.schedule.switches.count
                else { continue }
                smaller.tried = best.tried
                best = smaller
                hasShrunk = true
                break
            }
            if hasShrunk { continue }
            if size == 1 { break }
            size = max(1, size / 2)
        }
        return best
    }
}
