// Searches for a schedule under which a program fails, and shortens it. One search at a time per process. A search ends
// with the first failure. A run that hangs leaves its threads asleep forever.
import StillingWellBasis
import StillingWellSync

/// A program whose interleavings are searched.
public struct ExploredProgram: Sendable {
    /// The program, run on a controlled thread. Threads that it starts by `TracedThread` or `RunLoopThread` are
    /// controlled too.
    /// - Returns: the failure, or nil.
    public var body: @Sendable () -> String?

    public init(_ body: @escaping @Sendable () -> String?) { self.body = body }
}

/// A schedule under which a program fails.
public struct FoundSchedule: Sendable {
    public var schedule: Schedule
    /// Description of the failure.
    public var reason: String
    /// Wait cycle of a hang, as `thread>resource` links.
    public var cycle: [String]
    /// Number of schedules tried, including this one.
    public var tried: Int
    /// Strategy that found the schedule.
    public var strategy: String
    /// Whether the program hung or did not end. Otherwise it returned a failure.
    public var isHang = true
}

public struct Explorer {
    public var program: ExploredProgram
    /// Steps of the longest run so far.
    public private(set) var longestRun = 1
    public private(set) var tried = 0
    private let maximumShrinks = 150

    public init(_ program: ExploredProgram) { self.program = program }

    /// Runs one schedule. Returns its failure, or nil.
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

    /// Tries the default schedule, then in turn random ones and ones by PCT (`PCTSchedule`) of depth 2 and 3.
    /// - Parameter progress: called with the number tried after each schedule without a failure, except the default
    ///   one.
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

    /// Removes switches from a schedule that are not needed for a failure: halves first, then smaller parts down to
    /// single ones (delta debugging, Zeller and Hildebrandt 2002). Makes at most `maximumShrinks` runs.
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
