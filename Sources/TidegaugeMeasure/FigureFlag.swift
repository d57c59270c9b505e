// Flags of figures. In files a flag is a text, `word` or `word:detail`.

/// An entry of the `flags` column.
public struct FigureFlag: RawRepresentable, Hashable, Sendable, Codable {
    /// First part of a flag.
    public enum Word: String, CaseIterable, Sendable {
        case atLeast = "at_least"
        case negative
        case queueThreads = "queue_threads"
        case clock
        case atFloor = "at_floor"
        case acrossHosts = "across_hosts"
        case lockstep
        case notMonotone = "not_monotone"
        case coalescing
        case noKnee = "no_knee"
        case void, noisy
        case noReference = "no_reference"
        case notSteady = "not_steady"
        case saturated
        case noBaseline = "no_baseline"
        case notCounted = "not_counted"
        case over, at, dropped, counted, crashed, killed, hang
        case oracleViolation = "oracle_violation"
        case harnessFault = "harness_fault"
        case interrupted
    }

    /// nil for unknown flags, such as those of another commit's binary.
    public let word: Word?
    /// Text of the flag in files.
    public let rawValue: String
    public var text: String { rawValue }

    /// Accepts any text.
    public init(rawValue text: String) { (word, rawValue) = (Word(rawValue: String(text.prefix { $0 != ":" })), text) }

    private init(_ word: Word, _ detail: String? = nil) {
        (self.word, rawValue) = (word, detail.map { "\(word.rawValue):\($0)" } ?? word.rawValue)
    }

    public static let atLeast = FigureFlag(.atLeast)
    public static func negative(samples: Int) -> FigureFlag { .init(.negative, "\(samples)") }
    public static let queueThreads = FigureFlag(.queueThreads)
    public static func clock(readings: Int, ns: Int) -> FigureFlag { .init(.clock, "\(readings)x\(ns)ns") }
    public static let atFloor = FigureFlag(.atFloor)
    public static func acrossHosts(uncertaintyNs: Int64) -> FigureFlag { .init(.acrossHosts, "±\(uncertaintyNs)ns") }
    public static let lockstep = FigureFlag(.lockstep)
    public static let notMonotone = FigureFlag(.notMonotone)
    public static func coalescing(_ ratio: Double) -> FigureFlag { .init(.coalescing, "\(ratio)") }
    public static let noKnee = FigureFlag(.noKnee)
    public static func void(reason: String) -> FigureFlag { .init(.void, reason) }
    public static func noisy(reason: String) -> FigureFlag { .init(.noisy, reason) }
    public static let noReference = FigureFlag(.noReference)
    public static let notSteady = FigureFlag(.notSteady)
    /// The rate is rounded to a whole number.
    public static func saturated(rateHz: Double) -> FigureFlag { .init(.saturated, "\(Int(rateHz.rounded()))/s") }
    public static let noBaseline = FigureFlag(.noBaseline)
    public static let notCounted = FigureFlag(.notCounted)
    public static func over(key: String) -> FigureFlag { .init(.over, key) }
    public static func at(point: String) -> FigureFlag { .init(.at, point) }
    public static func dropped(points: Int) -> FigureFlag { .init(.dropped, "\(points)") }
    public static func counted(by counter: InstructionCounter) -> FigureFlag { .init(.counted, counter.rawValue) }
    public static func crashed(signal: String) -> FigureFlag { .init(.crashed, signal) }
    public static func killed(signal: String) -> FigureFlag { .init(.killed, signal) }
    public static let hang = FigureFlag(.hang)
    public static let oracleViolation = FigureFlag(.oracleViolation)
    /// Text on one line without the separator of flags.
    public static func harnessFault(reason: String) -> FigureFlag {
        .init(.harnessFault, String(reason.map { $0.isNewline ? " " : $0 == ";" ? "," : $0 }))
    }
    public static let interrupted = FigureFlag(.interrupted)

    /// Disturbance that a flag `noisy` names; nil for other flags.
    public var disturbance: String? { word == .noisy ? String(text.dropFirst(Word.noisy.rawValue.count + 1)) : nil }
    /// Counter that a flag `counted` names; nil for other flags.
    public var counter: InstructionCounter? {
        word == .counted ? InstructionCounter(rawValue: String(text.dropFirst(Word.counted.rawValue.count + 1))) : nil
    }
    /// Maximum error (±) in ns of a time between two hosts, or nil.
    public var uncertaintyNs: Double? {
        word == .acrossHosts ? Double(text.dropFirst(Word.acrossHosts.rawValue.count + 2).dropLast(2)) : nil
    }
    /// Whether the flag says for which key or values a figure over a sweep of several keys was computed.
    public var isPlace: Bool { word == .over || word == .at }
}

extension FigureFlag.Word {
    /// Meaning and remedy for people, in Markdown.
    public var meaning: String {
        switch self {
        case .atLeast: "the true value may be higher because of censored samples; shown as `≥` on a terminal"
        case .negative:
            "N samples are negative and are counted as such: the callback was entered before the commit had returned"
        case .queueThreads:
            "`observer_cpu` has no value, because queues share their threads with all other dispatched work; their "
                + "CPU is included in `process_cpu`; `observers.deliver: run-loop` gives observers threads of their own"
        case .clock:
            "of `recording_cost`: cost of the clock readings that it excludes, with their number per commit and "
                + "callback, and the cost of one"
        case .atFloor:
            "less than three times the resolution of the harness: the same figure on the no-op driver, one clock "
                + "reading, and for times from a due time the same percentile of `harness_hiccup`; shown as `~`"
        case .acrossHosts:
            "begins on the clock of one host and ends on that of another; the true value is within ± N ns; shown as "
                + "`~` if it is less than that. A limit within that range is *unknown*; a faster connection between "
                + "the hosts narrows it"
        case .lockstep:
            "a latency with `wait: delivery`: a commit is due when it begins, so the store is idle before each; "
                + "`load: open` measures it under load"
        case .notMonotone:
            "a rate above `high` was sustained: one of the trials was disturbed; raise `repeat`"
        case .coalescing: "commits per callback at the highest sustained rate"
        case .noKnee: "one line fits as well as two; if the bend is beyond the sweep, add higher rates"
        case .void:
            "reason for which a trial was repeated: time taken by the hypervisor (`steal`, over 2 % of the time of "
                + "all processors, less a tick), waiting for a processor because of other processes (`cpu_wait`, "
                + "over a tenth of the time in which the trial's threads ran or were ready to run), or hiccups far "
                + "above those of an idle machine"
        case .noisy:
            "same reasons as `void`, for a trial that was kept because at most a fifth of a scenario's trials are "
                + "repeated; a limit on a time or rate that only such trials break is *unknown*; counts, bytes and "
                + "violations are judged as usual. Run it again on a quiet machine"
        case .noReference:
            "the driver to compare with did not run; it is the first that the scenario names: add it to `--driver`"
        case .notSteady:
            "figures still drifted within the measured window; use a longer `warm_up`, or a lower `writers.rate` if "
                + "the store falls behind"
        case .saturated:
            "of `trial_outcome`: the engine did not keep up with the rate asked for and reached N commits per second, so "
                + "commits were given up; latencies show the backlog: lower `writers.rate`"
        case .noBaseline: "the trial without subscriptions, which the figure is compared with, did not complete"
        case .notCounted:
            "this machine cannot count instructions (`make setup` installs valgrind), or the counted trial did not "
                + "complete"
        case .over: "of a figure over a sweep of several keys: the key that varies"
        case .at: "of a figure over a sweep of several keys: the values of the other keys"
        case .dropped:
            "N points of the sweep were left out of a fit, because noise made them zero or negative; use a longer "
                + "`duration` or a higher `repeat`"
        case .counted:
            "of a counted trial: counter of the instructions, which is the processor (`hardware`) or valgrind "
                + "(`callgrind`), or the engine's own counters (`engine`); their figures are never compared with each other"
        case .crashed: "the trial, on `trial_outcome`: its process crashed"
        case .killed: "the trial, on `trial_outcome`: its process was killed by another one"
        case .hang: "the trial, on `trial_outcome`: it made no progress; `tidegauge replay` repeats it"
        case .oracleViolation: "the trial, on `trial_outcome`: the oracle found a violation"
        case .harnessFault: "the trial, on `trial_outcome`: the harness failed, so the store was not measured"
        case .interrupted:
            "the trial, on `trial_outcome`: the run was interrupted; `tidegauge run --resume` continues it"
        }
    }
}
