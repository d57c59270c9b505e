// Flags of figures. In files a flag is a text, `word` or `word:detail`; in code it is a case.

/// An entry of the `flags` column. Every flag of this binary has a member here.
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
        case noBaseline = "no_baseline"
        case notCounted = "not_counted"
        case over, at, dropped, counted, crashed, killed, hang
        case oracleViolation = "oracle_violation"
        case harnessFault = "harness_fault"
        case interrupted
    }

    /// nil for flags of another commit's binary, which are kept as text.
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

    /// Disturbance of the figure's trial, or nil.
    public var disturbance: String? { word == .noisy ? String(text.dropFirst(Word.noisy.rawValue.count + 1)) : nil }
    /// Counter of the figure, or nil.
    public var counter: InstructionCounter? {
        word == .counted ? InstructionCounter(rawValue: String(text.dropFirst(Word.counted.rawValue.count + 1))) : nil
    }
    /// Maximum error (±) in ns of a time between two hosts, or nil.
    public var uncertaintyNs: Double? {
        word == .acrossHosts ? Double(text.dropFirst(Word.acrossHosts.rawValue.count + 2).dropLast(2)) : nil
    }
    /// Whether the flag names the family of a sweep.
    public var isPlace: Bool { word == .over || word == .at }
}

extension FigureFlag.Word {
    /// Meaning for people: a sentence that ends with the remedy, if there is one. Markdown.
    public var meaning: String {
        switch self {
        case .atLeast: "censored samples may push the figure up: the value is a bound, shown as `≥` on a terminal"
        case .negative:
            "N samples lie under zero, and count as what they are: a callback was entered before the commit it reports "
                + "had returned"
        case .queueThreads:
            "`observer_cpu` has no value: a queue's threads are shared with everything else that is dispatched, and their "
                + "CPU is a part of `process_cpu` alone; `observers.deliver: run-loop` gives observers threads of their own"
        case .clock:
            "of `recording_cost`: what the clock takes beside it, readings per commit and callback, and one of them"
        case .atFloor:
            "under three times what the harness can measure: the same figure on the no-op driver, three readings of "
                + "the clock, and, for times from a due time, the same percentile of `harness_hiccup`; shown as `~`"
        case .acrossHosts:
            "begins on the clock of one host and ends on that of another, whose difference is known to ± N ns at worst: the true "
                + "figure lies within; shown as `~` where it is less than that. A limit within is *unknown*; a quicker way "
                + "between the hosts makes it narrower"
        case .lockstep:
            "a latency of `load: lockstep`: a commit is due when it begins, since nothing else is under way, so this is "
                + "a store without load; `load: open` puts one on it"
        case .notMonotone:
            "a rate above `high` was kept up with all the same: the machine disturbed one of them, and a higher "
                + "`repeat` outvotes it"
        case .coalescing: "commits per callback at the highest sustained rate"
        case .noKnee: "one line fits as well as two; a bend that lies beyond the sweep needs higher rates"
        case .void:
            "why a trial was run again: time stolen by the hypervisor (`steal`, over 2 % of the time of all processors, "
                + "less a tick), other processes that took over a tenth of the time in which the trial's threads ran or "
                + "would have (`cpu_wait`), or hiccups far above those at rest"
        case .noisy:
            "the same, of a trial that stands because no more may be repeated (a fifth of a scenario's trials at most); "
                + "a limit on a time or rate that only such trials break is *unknown*, with the reason; counts, bytes "
                + "and promises are judged as ever. Run it again when the machine is quiet"
        case .noReference:
            "the driver to compare with did not run: it is the first that the scenario names, and `--driver` has to name it too"
        case .notSteady:
            "figures still drifted within the measured window; a longer `warm_up` lets a store settle, and a lower "
                + "`writers.rate` one that falls behind"
        case .noBaseline: "the trial without subscriptions that the figure is taken against did not complete"
        case .notCounted:
            "this machine counts no instructions (`make setup` installs what does), or the counted trial did not complete"
        case .over: "of a figure over a sweep of several keys: the key it runs over"
        case .at: "of a figure over a sweep of several keys: where the others stood"
        case .dropped:
            "N points of the sweep were left out of a fit, because noise had put them at or under zero; a longer "
                + "`duration` or a higher `repeat` brings them out of it"
        case .counted:
            "who counted the instructions: the processor (`hardware`) or valgrind (`callgrind`), whose figures are never "
                + "compared with each other"
        case .crashed: "the trial, on `trial_outcome`: its process ended by a signal of its own making"
        case .killed: "the trial, on `trial_outcome`: its process was ended by a signal from outside"
        case .hang: "the trial, on `trial_outcome`: it made no progress; `tidegauge replay` runs it again"
        case .oracleViolation: "the trial, on `trial_outcome`: the store broke a promise"
        case .harnessFault: "the trial, on `trial_outcome`: the harness failed, and nothing is said of the store"
        case .interrupted:
            "the trial, on `trial_outcome`: the run was interrupted; `tidegauge run --resume` goes on with it"
        }
    }
}
