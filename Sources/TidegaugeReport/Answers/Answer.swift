// An answer of a run: a number, its meaning in one line, and its source. Plain values for the page, summary.md and the
// terminal.

/// An answer to one of the main questions about a run.
struct Answer: Sendable, Equatable {
    /// Questions in the order of display.
    enum Question: String, CaseIterable, Sendable {
        case howFast = "How fast?"
        case howStale = "How stale?"
        case coalesced = "Coalesced?"
        case upkeep = "Upkeep?"
        case lostOrWrong = "Lost or wrong?"
        case hung = "Hung?"
        case bendsWhere = "Bends where?"
        case worse = "Worse than last time?"

        /// Better direction of the figure; nil for coalescing, of which an application may want more or less.
        var better: Better? {
            switch self {
            case .howFast, .howStale, .upkeep, .lostOrWrong, .hung, .worse: .lower
            case .bendsWhere: .higher
            case .coalesced: nil
            }
        }
    }

    /// Which direction of the figure is the better one.
    enum Better: String, Sendable {
        case lower = "lower is better"
        case higher = "higher is better"
    }

    enum Tone: String, Sendable {
        case good, bad
        /// Neither good nor bad, because nothing is known.
        case open
    }

    /// The part of the run that the number comes from.
    enum Source: Sendable, Equatable {
        case scenario(String)
        /// Separate parts of the page.
        case integrity, hangs, interleavingTests, baseline
    }

    /// Text in place of a missing number.
    static let none = "–"

    var question: Question
    /// Number with its unit, for people: `131 µs`.
    var figure: String
    /// Value for comparison with another run; nil if there is none or a ratio is meaningless.
    var value: Double?
    /// Meaning in one line.
    var meaning: String
    var source: Source?
    var tone: Tone

    init(
        _ question: Question, _ figure: String, value: Double? = nil, _ meaning: String, from source: Source? = nil,
        _ tone: Tone
    ) {
        (self.question, self.figure, self.value) = (question, figure, value)
        (self.meaning, self.source, self.tone) = (meaning, source, tone)
    }

    /// Answer to a question that the run did not measure.
    static func unknown(_ question: Question, _ why: String, from source: Source? = nil) -> Answer {
        Answer(question, none, why, from: source, .open)
    }
}

/// The eight answers of a run.
struct Answers: Sendable, Equatable {
    let all: [Answer]
    /// Sentence that names the driver of the answers; nil unless loads ran on several drivers.
    let about: String?

    init(_ record: RunRecord) {
        let own = SubjectFigures(record)
        about = Self.about(own)
        all = Answer.Question.allCases.map { question in
            switch question {
            case .howFast: own.howFast
            case .howStale: own.howStale
            case .coalesced: own.coalesced
            case .upkeep: own.upkeep
            case .lostOrWrong: Self.lostOrWrong(record)
            case .hung: Self.hung(record)
            case .bendsWhere: own.bendsWhere
            case .worse: Self.worse(record)
            }
        }
    }

    private static func about(_ own: SubjectFigures) -> String? {
        let trials = own.record.trials.filter { $0.spec.interleaving == nil }
        let drivers = Digest.inOrder(trials.map(\.spec.driver))
        guard drivers.count > 1, drivers.contains(own.driver) else { return nil }
        let isFirst = own.record.header.driverNames.first(where: drivers.contains) == own.driver
        let whole = [Answer.Question.lostOrWrong, .hung, .worse].map { "'\($0.rawValue)'" }
        return "Answers for \(own.driver), \(isFirst ? "the first driver" : "the driver with the most trials"); "
            + "\(whole.dropLast().joined(separator: ", ")) and \(whole.last ?? "") are about all \(drivers.count) drivers."
    }
}
