// The reference of scenario files, generated from the tables that the reader uses: output of `tidegauge list keys`,
// and tables in Docs/scenarios.md. Pure.
import TidegaugeSpec

public enum ScenarioReference {
    public static let columns = ["key", "values", "default", "summary"]

    /// A row per setting, with cells in the order of `columns`.
    public static var settings: [[String]] { Setting.allCases.map { cells($0) { $0 } } }

    /// All tables of the reference in Markdown.
    static var markdown: String {
        let keys = FileKey.allCases.map { ["`\($0.rawValue)`", $0.summary] }
        let settings = Setting.allCases.map { cells($0) { "`\($0)`" } }
        let faults = FaultSpec.Kind.allCases.map { kind in
            let taken = kind.row.takes.map { "`\($0.key)`" }.joined(separator: " ")
            return ["`\(kind.rawValue)`", taken, text(kind.needs), kind.row.summary]
        }
        let profiles = Profile.allCases.map { ["`\($0.rawValue)`", $0.summary] }
        let steps = StepRow.all.map { row in
            ["`\(row.name)`", row.form.usage(row.name).replacing("'", with: "`"), row.summary]
        }
        let inner = InnerKey.allCases.map { ["`\($0.rawValue)`", $0.summary] }
        return [
            "### Keys of a file", table(["key", "what it holds"], keys), "### Settings", table(columns, settings),
            "### Profiles", table(["profile", "what it is for"], profiles),
            "### Kinds of fault", table(["`fault.kind`", "takes", "needs", "what is done"], faults),
            "### Steps of a thread", table(["step", "how it is written", "what it does"], steps),
            "### Keys inside a thread, a step or a limit", table(["key", "what it holds"], inner),
        ].joined(separator: "\n\n")
    }

    /// - Parameter quoted: formats a word of a file, as opposed to prose.
    private static func cells(_ setting: Setting, quoted: (String) -> String) -> [String] {
        let row = setting.row
        return [
            quoted(setting.rawValue), values(row.kind, quoted), row.defaultValue.map { quoted($0.text) } ?? "",
            row.summary + condition(setting, quoted),
        ]
    }

    /// The values of another key, or the kinds of fault, with which a setting applies, as a sentence.
    private static func condition(_ setting: Setting, _ quoted: (String) -> String) -> String {
        if let required = setting.row.required {
            let words = required.words.map { quoted("\(required.setting.rawValue): \($0)") }
            return " Only with \(words.joined(separator: " or "))."
        }
        let kinds = FaultSpec.Kind.allCases.filter { $0.row.takes.contains(setting) }
        return kinds.isEmpty ? "" : " Of \(kinds.map { quoted($0.rawValue) }.joined(separator: ", "))."
    }

    private static func values(_ kind: SettingKind, _ quoted: (String) -> String) -> String {
        switch kind {
        case .word(let words): words.map(quoted).joined(separator: " ")
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .share: "more than 0, at most 1"
        case .durationNs(let range):
            "\(Quantity.text(durationNs: range.lowerBound)) to \(Quantity.text(durationNs: range.upperBound))"
        case .rateHz(let highest): "more than 0/s, at most \(Quantity.text(rateHz: highest))"
        case .number(let range): "\(Quantity.text(range.lowerBound)) to \(Quantity.text(range.upperBound))"
        case .file: "a file's name"
        case .url: "`postgresql://user@host/database`"
        case .condition: ([Setting.noCondition] + ConditionSpec.forms).map(quoted).joined(separator: " ")
        case .changes: WritersSpec.ChangeKind.allCases.map { quoted($0.rawValue) }.joined(separator: " ")
        }
    }

    private static func text(_ need: FaultSpec.Kind.Need?) -> String {
        switch need {
        case nil: ""
        case .ownWriters: "`\(Setting.process.rawValue): \(WritersSpec.Process.own.rawValue)`"
        case .sharedStore: "a store that several processes can have open"
        case .files(let durability): "files, such as `\(Setting.durability.rawValue): \(durability)`"
        case .checkedDeliveries: "observers, and change sets"
        case .ownServer: "a server of the trial's own"
        }
    }

    private static func table(_ columns: [String], _ rows: [[String]]) -> String {
        let lines = [columns, columns.map { _ in "---" }] + rows
        return lines.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
    }
}
