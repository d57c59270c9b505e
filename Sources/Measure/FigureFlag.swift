// What has to be known of a figure beside its value. In files a flag is one text, `word` or `word:detail`; everywhere else
// it is a case.

/// An entry of the `flags` column.
public enum FigureFlag: Hashable, Sendable {
    case atLeast
    case negative(samples: Int)
    case queueThreads
    case clock(readings: Int, ns: Int)
    case atFloor
    case lockstep
    case notMonotone
    case coalescing(Double)
    case noKnee
    case void(reason: String)
    case noisy(reason: String)
    case noReference
    case notSteady
    case noBaseline
    case over(key: String)
    case at(point: String)
    case dropped(points: Int)
    case crashed(signal: String)
    case killed(signal: String)
    case hang
    case oracleViolation
    case harnessFault(reason: String)
    case interrupted
    /// Of another commit's binary; kept as it came.
    case unknown(String)

    /// What a flag begins with.
    public enum Word: String, CaseIterable, Sendable {
        case atLeast = "at_least"
        case negative
        case queueThreads = "queue_threads"
        case clock
        case atFloor = "at_floor"
        case lockstep
        case notMonotone = "not_monotone"
        case coalescing
        case noKnee = "no_knee"
        case void, noisy
        case noReference = "no_reference"
        case notSteady = "not_steady"
        case noBaseline = "no_baseline"
        case over, at, dropped, crashed, killed, hang
        case oracleViolation = "oracle_violation"
        case harnessFault = "harness_fault"
        case interrupted
    }

    /// As in the file.
    public var text: String {
        switch self {
        case .atLeast: Self.text(.atLeast)
        case .negative(let samples): Self.text(.negative, "\(samples)")
        case .queueThreads: Self.text(.queueThreads)
        case .clock(let readings, let ns): Self.text(.clock, "\(readings)x\(ns)ns")
        case .atFloor: Self.text(.atFloor)
        case .lockstep: Self.text(.lockstep)
        case .notMonotone: Self.text(.notMonotone)
        case .coalescing(let ratio): Self.text(.coalescing, "\(ratio)")
        case .noKnee: Self.text(.noKnee)
        case .void(let reason): Self.text(.void, reason)
        case .noisy(let reason): Self.text(.noisy, reason)
        case .noReference: Self.text(.noReference)
        case .notSteady: Self.text(.notSteady)
        case .noBaseline: Self.text(.noBaseline)
        case .over(let key): Self.text(.over, key)
        case .at(let point): Self.text(.at, point)
        case .dropped(let points): Self.text(.dropped, "\(points)")
        case .crashed(let signal): Self.text(.crashed, signal)
        case .killed(let signal): Self.text(.killed, signal)
        case .hang: Self.text(.hang)
        case .oracleViolation: Self.text(.oracleViolation)
        // One line, without the separator of flags, whatever an error message brought along.
        case .harnessFault(let reason):
            Self.text(.harnessFault, String(reason.map { $0.isNewline ? " " : $0 == ";" ? "," : $0 }))
        case .interrupted: Self.text(.interrupted)
        case .unknown(let text): text
        }
    }

    private static func text(_ word: Word, _ detail: String? = nil) -> String {
        detail.map { "\(word.rawValue):\($0)" } ?? word.rawValue
    }

    /// Reads every text; what no case of this binary would write is `unknown`.
    public init(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let detail = parts.count > 1 ? parts[1] : ""
        let read = Word(rawValue: parts[0]).flatMap { Self.read($0, detail) }
        self = read?.text == text ? read! : .unknown(text)
    }

    private static func read(_ word: Word, _ detail: String) -> FigureFlag? {
        switch word {
        case .atLeast: .atLeast
        case .negative: Int(detail).map { .negative(samples: $0) }
        case .queueThreads: .queueThreads
        case .clock: clock(detail)
        case .atFloor: .atFloor
        case .lockstep: .lockstep
        case .notMonotone: .notMonotone
        case .coalescing: Double(detail).map { .coalescing($0) }
        case .noKnee: .noKnee
        case .void: .void(reason: detail)
        case .noisy: .noisy(reason: detail)
        case .noReference: .noReference
        case .notSteady: .notSteady
        case .noBaseline: .noBaseline
        case .over: .over(key: detail)
        case .at: .at(point: detail)
        case .dropped: Int(detail).map { .dropped(points: $0) }
        case .crashed: .crashed(signal: detail)
        case .killed: .killed(signal: detail)
        case .hang: .hang
        case .oracleViolation: .oracleViolation
        case .harnessFault: .harnessFault(reason: detail)
        case .interrupted: .interrupted
        }
    }

    /// `5x29ns`.
    private static func clock(_ detail: String) -> FigureFlag? {
        let parts = detail.split(separator: "x")
        guard parts.count == 2, let readings = Int(parts[0]), let ns = Int(parts[1].dropLast(2)) else { return nil }
        return .clock(readings: readings, ns: ns)
    }
}

// What asks for a flag asks here.
extension FigureFlag {
    /// What disturbed the trial of the figure.
    public var disturbance: String? { if case .noisy(let reason) = self { reason } else { nil } }

    /// Says which family of a sweep the figure is of.
    public var isPlace: Bool {
        switch self {
        case .over, .at: true
        default: false
        }
    }
}

extension FigureFlag.Word {
    /// What the flag says, for people: a sentence, which ends in the remedy where there is one. Markdown.
    public var meaning: String {
        switch self {
        case .atLeast:
            "censored samples may push the figure up: the value is a bound, shown as `≥` on a terminal"
        case .negative:
            "N samples lie under zero, and count as what they are: a callback was entered before the commit it reports "
                + "had returned"
        case .queueThreads:
            "`observer_cpu` is `n/a`: a queue's threads are shared with everything else that is dispatched, and their "
                + "CPU stands in `other_cpu`; `observers.deliver: run-loop` gives observers threads of their own"
        case .clock:
            "of `recording_cost`: what the clock takes beside it, readings per commit and callback, and one of them"
        case .atFloor:
            "under three times what the harness can measure: the same figure on the no-op driver, three readings of "
                + "the clock, and, for times from a due time, the same percentile of `harness_hiccup`; shown as `~`"
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
                + "less a tick), neighbours that took over a tenth of the time in which the trial's threads ran or "
                + "would have (`cpu_wait`), or hiccups far above those at rest"
        case .noisy:
            "the same, of a trial that stands because no more may be repeated (a fifth of a scenario's trials at most); "
                + "a limit on a time or rate that only such trials break is *unknown*, with the reason; counts, bytes "
                + "and promises are judged as ever. Run it again when the machine is quiet"
        case .noReference:
            "the driver to compare with did not run: it is the first that the scenario names, and `--driver` has to "
                + "name it too"
        case .notSteady:
            "figures still drifted within the measured window; a longer `warm_up` lets a store settle, and a lower "
                + "`writers.rate` one that falls behind"
        case .noBaseline: "the trial without subscriptions that the figure is taken against did not complete"
        case .over: "of a figure over a sweep of several keys: the key it runs over"
        case .at: "of a figure over a sweep of several keys: where the others stood"
        case .dropped:
            "N points of the sweep were left out of a fit, because noise had put them at or under zero; a longer "
                + "`duration` or a higher `repeat` brings them out of it"
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

extension FigureFlag: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
