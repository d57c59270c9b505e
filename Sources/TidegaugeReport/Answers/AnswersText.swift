// The answers as lines for a terminal and as a table for a pull request. Pure.

enum AnswersText {
    /// Returns lines: the driver of the answers, the eight answers, the ratios between engines, then the machine.
    static func console(_ record: RunRecord) -> [String] {
        let (answers, about) = (Answers(record).all, Answers(record).about)
        let questions = answers.map { Self.question($0.question) }
        let figures = answers.map { Escaped.visible($0.figure) }
        func padded(_ text: String, _ all: [String]) -> String {
            text + String(repeating: " ", count: (all.map(\.count).max() ?? 0) - text.count)
        }
        let lines = answers.indices.map { index in
            let meaning = Escaped.visible(answers[index].meaning)
            return "\(padded(questions[index], questions))  \(padded(figures[index], figures))  \(meaning)"
                + (answers[index].scenario.map { " (\(Escaped.visible($0)))" } ?? "")
        }
        let engines = EngineRatios.all(record).flatMap { ratios in
            ratios.lines.map { "\(Escaped.visible(ratios.scenario)): \(Escaped.visible($0))" }
        }
        return (about.map { [Escaped.visible($0)] } ?? []) + lines + engines + [
            "Machine: " + Escaped.visible(MachineState(record).sentence)
        ]
    }

    /// `How fast? ↓`.
    private static func question(_ question: Answer.Question) -> String {
        switch question.better {
        case .lower: "\(question.rawValue) ↓"
        case .higher: "\(question.rawValue) ↑"
        case nil: question.rawValue
        }
    }

    static func markdown(_ record: RunRecord) -> String {
        let answers = Answers(record)
        let rows = answers.all.map { answer in
            let place = answer.scenario.map { " (\(Escaped.markdown($0)))" } ?? ""
            return [
                "**\(Self.question(answer.question))**", "**\(Escaped.markdown(answer.figure))**",
                Escaped.markdown(answer.meaning) + place,
            ]
        }
        let machine = MachineState(record)
        let limits = machine.limits.map { " **\(Escaped.markdown($0)).**" } ?? ""
        let about = answers.about.map { "\(Escaped.markdown($0))\n\n" } ?? ""
        return about + Markdown.table(["", "", ""], [.word, .figure, .word], rows)
            + "\n" + engines(record) + "**Machine**: \(Escaped.markdown(machine.sentence))\(limits)\n\n"
    }
}

extension AnswersText {
    private static func engines(_ record: RunRecord) -> String {
        EngineRatios.all(record).map { ratios in
            "**Engines side by side**, \(Escaped.markdown(ratios.scenario)):\n\n"
                + ratios.lines.map { "- \(Escaped.markdown($0))\n" }.joined() + "\n"
        }.joined()
    }
}

extension Answer {
    /// Scenario in which the number was measured, or nil.
    var scenario: String? { if case .scenario(let name) = source { name } else { nil } }
}
