// One answer of a run: a number, its meaning in a line, where it comes from. Plain values, the same on the page, in summary.md
// and at the end of the terminal's output.

/// What a reader of a run asks first, answered.
struct Answer: Sendable, Equatable {
    /// In the order in which they are asked.
    enum Question: String, CaseIterable, Sendable {
        case howFast = "How fast?"
        case howStale = "How stale?"
        case coalesced = "Coalesced?"
        case upkeep = "Upkeep?"
        case lostOrWrong = "Lost or wrong?"
        case hung = "Hung?"
        case bendsWhere = "Bends where?"
        case worse = "Worse than last time?"
    }

    enum Tone: String, Sendable {
        case good, bad
        /// Nothing is known, and nothing is wrong.
        case open
    }

    /// Where the number comes from.
    enum Source: Sendable, Equatable {
        case scenario(String)
        /// A part of the page of its own.
        case integrity, hangs, choreographies, baseline
    }

    /// In place of a number that a run does not have.
    static let none = "–"

    var question: Question
    /// For people, with its unit: `131 µs`.
    var figure: String
    /// The same as a number, to be held against that of another run; nil where there is none, or where a ratio says nothing.
    var value: Double?
    /// One line.
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

    /// Of a question that the run does not go into.
    static func unknown(_ question: Question, _ why: String, from source: Source? = nil) -> Answer {
        Answer(question, none, why, from: source, .open)
    }
}

/// The eight answers of a run, always all of them.
struct Answers: Sendable, Equatable {
    let all: [Answer]

    init(_ record: RunRecord) {
        let own = SubjectFigures(record)
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
}
