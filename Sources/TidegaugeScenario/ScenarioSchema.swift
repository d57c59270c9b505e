// JSON Schema of scenario files for editors, generated from the tables that the reader uses. Conditions that a schema
// cannot express, such as combinations of settings, are checked by `tidegauge check`. Pure.
import TidegaugeSpec

public enum ScenarioSchema {
    /// Returns the schema as JSON text, draft 2020-12.
    /// - Parameter drivers: driver names that scenarios may use.
    public static func json(drivers: [String]) -> String { root(drivers).rendered() + "\n" }

    private static func root(_ drivers: [String]) -> JSONText {
        let metrics = anyOf([
            words(Metric.allCases.map(\.rawValue)), ["type": "string", "pattern": .text("^\(openMetrics)$")],
        ])
        let text: JSONText = ["type": "string", "pattern": "\\S"]
        let kinds: [(key: FileKey, value: JSONText)] = [
            (.extends, text), (.without, names(words(ExtendedFile.removable))), (.purpose, text), (.represents, text),
            (.drivers, names(words(drivers))),
        ]
        let asked: [(key: FileKey, value: JSONText)] = [
            (.sweep, ["$ref": "#/$defs/sweep"]), (.measure, names(metrics)), (.limits, limits), (.gate, metrics),
            (.answers, names(words(SummaryQuestion.allCases.map(\.rawValue)))),
            (.threads, ["type": "object", "additionalProperties": ["$ref": "#/$defs/actor"]]), (.expect, expectation),
            (
                .cycle,
                ["type": "array", "minItems": .number(1), "items": ["type": "string", "pattern": "\\S *> *\\S"]]
            ),
            (
                .profiles,
                closed(
                    Profile.allCases.map { ($0.rawValue, described(["$ref": "#/$defs/profile"], $0.summary)) })
            ),
        ]
        let properties = kinds.map(documented) + settings + asked.map(documented)
        return .object([
            ("$schema", "https://json-schema.org/draft/2020-12/schema"),
            ("title", "A scenario of Tidegauge"),
            ("type", "object"),
            (
                "anyOf",
                .list([
                    ["required": .list(["extends"])], ["required": .list(["purpose", "measure"])],
                    ["required": .list(["purpose", "threads", "expect"])],
                ])
            ),
            ("additionalProperties", false),
            ("properties", .object(properties)),
            (
                "$defs",
                [
                    "sweep": sweep, "profile": closed(settings + [documented(.sweep, ["$ref": "#/$defs/sweep"])]),
                    "actor": anyOf([
                        steps,
                        closed([
                            documented(.runsOn, words(InterleavingSpec.Place.allCases.map(\.rawValue))),
                            documented(.steps, steps),
                        ]),
                    ]), "step": step,
                    "point": closed(Setting.swept.map { ($0.rawValue, described(value($0), $0.row.summary)) }),
                    "condition": condition, "conditions": conditions,
                ]
            ),
        ])
    }

    // MARK: Settings

    /// Sections with their settings, and top-level settings.
    private static var settings: [(key: String, value: JSONText)] {
        let sections = FileKey.sections.map { section in
            documented(section, closed(Setting.all(in: section.rawValue).map { ($0.key, documented($0)) }))
        }
        return sections + Setting.all(in: nil).map { ($0.key, documented($0)) }
    }

    private static func documented(_ setting: Setting) -> JSONText {
        let row = setting.row
        return described(value(setting), row.summary + (row.defaultValue.map { " Default: \($0.text)." } ?? ""))
    }

    private static func documented(_ key: FileKey, _ value: JSONText) -> (key: String, value: JSONText) {
        (key.rawValue, described(value, key.summary))
    }

    private static func documented(_ key: InnerKey, _ value: JSONText) -> (key: String, value: JSONText) {
        (key.rawValue, described(value, key.summary))
    }

    /// Schema of a setting's value.
    static func value(_ setting: Setting) -> JSONText {
        switch setting.row.kind {
        case .word(let names): return words(names)
        case .integer(let range):
            return anyOf([
                [
                    "type": "integer", "minimum": .number(Double(range.lowerBound)),
                    "maximum": .number(Double(range.upperBound)),
                ],
                // Editors that use YAML 1.2 treat numbers with underscores as text.
                ["type": "string", "pattern": "^[0-9]+(_[0-9]+)+$"],
            ])
        case .share:
            return anyOf([
                ["type": "number", "exclusiveMinimum": .number(0), "maximum": .number(1)],
                ["type": "string", "pattern": "^0\\.[0-9]+(_[0-9]+)+$"],
            ])
        case .durationNs: return ["type": "string", "pattern": "^[0-9][0-9_.e+-]*(ns|us|µs|μs|ms|s|min|h)$"]
        case .rateHz: return ["type": "string", "pattern": "^[0-9][0-9_.e+-]*/s$"]
        case .number(let range):
            return anyOf([
                ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)],
                ["type": "string", "pattern": "^[0-9]+(_[0-9]+)+(\\.[0-9]+)?$"],
            ])
        case .url: return ["type": "string", "pattern": "^postgres(ql)?://"]
        case .file: return ["type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]*$"]
        case .condition: return ["type": "string", "pattern": "^(none|score (in|or) .+|text [a-z]+ .+)$"]
        case .changes: return changes
        }
    }

    private static var changes: JSONText {
        let kinds = WritersSpec.ChangeKind.allCases.map(\.rawValue)
        let score: JSONText = closed([("update", described(["const": "score"], "The same as `update-score`."))])
        let weight = described(
            ["type": "number", "exclusiveMinimum": .number(0)], "The weight of this change among the others.")
        return anyOf([
            words(kinds),
            ["type": "string", "pattern": "^[a-z-]+:[0-9.]+(\\+[a-z-]+:[0-9.]+)*$"],
            ["type": "array", "minItems": .number(1), "items": anyOf([words(kinds), score])],
            score, closed(kinds.map { ($0, weight) }),
        ])
    }

    // MARK: Sweeps and limits

    private static var sweep: JSONText {
        let product = closed(
            Setting.swept.map { setting in
                let values: JSONText = ["type": "array", "minItems": .number(1), "items": value(setting)]
                return (setting.rawValue, described(values, setting.row.summary))
            })
        return anyOf([product, ["type": "array", "minItems": .number(1), "items": product]])
    }

    private static var condition: JSONText { ["type": "string", "pattern": "^(<=|>=|==|<|>) *\\S"] }

    /// A condition, a condition with points, or a list of these.
    private static var conditions: JSONText {
        let one: JSONText = ["$ref": "#/$defs/condition"]
        let restricted = closed([documented(.at, ["$ref": "#/$defs/point"]), documented(.limit, one)])
        return anyOf([
            one, restricted, ["type": "array", "minItems": .number(1), "items": anyOf([one, restricted])],
        ])
    }

    private static var limits: JSONText {
        let statistics = Limit.statistics.joined(separator: "|")
        let properties = Metric.allCases.map { metric in
            (metric.rawValue, described(["$ref": "#/$defs/conditions"], metric.entry.definition))
        }
        let metrics = Metric.allCases.map(\.rawValue).joined(separator: "|")
        let ofStatistic = described(["$ref": "#/$defs/conditions"], "One statistic of a metric, as `staleness.p99`.")
        let ofCounter = described(
            ["$ref": "#/$defs/conditions"], "A counter of the engine per commit, as `engine.rows_read`.")
        return [
            "type": "object", "additionalProperties": false, "properties": .object(properties),
            "patternProperties": .object([
                ("^(\(metrics))\\.(\(statistics))$", ofStatistic),
                ("^\(openMetrics)(\\.(\(statistics)))?$", ofCounter),
            ]),
        ]
    }

    /// Regular expression of the metrics of an engine's counters.
    private static let openMetrics =
        "(" + Metric.openPrefixes.map { $0.replacing(".", with: "\\.") }.joined(separator: "|") + ")"
        + Metric.counterPattern

    // MARK: Interleaving tests

    private static var steps: JSONText { ["type": "array", "items": ["$ref": "#/$defs/step"]] }

    private static var expectation: JSONText {
        let ending = words(InterleavingSpec.Ending.allCases.map(\.rawValue))
        return anyOf([ending, ["type": "object", "additionalProperties": ending]])
    }

    private static var step: JSONText {
        let rows = StepRow.all
        return anyOf([
            words(rows.filter(\.form.mayStandAlone).map(\.name)),
            closed(rows.compactMap { row in argument(row.form).map { (row.name, described($0, row.summary)) } }),
        ])
    }

    /// Schema of a step's argument, or nil if the step has none.
    private static func argument(_ form: StepForm) -> JSONText? {
        let name: JSONText = ["type": "string", "pattern": "\\S"]
        let count: JSONText = ["type": "integer", "minimum": .number(1), "maximum": .number(10_000)]
        return switch form {
        case .alone: nil
        case .count: count
        case .steps: steps
        case .subscription, .word: name
        case .subscribe:
            closed([
                documented(.as, name), documented(.count, count), documented(.initial, steps),
                documented(.update, steps),
            ])
        case .named: ["type": "object", "additionalProperties": steps]
        case .times: closed([documented(.times, count), documented(.steps, steps)])
        }
    }

    // MARK: Pieces

    /// Schema of a choice of words. `true` and `false` become booleans, as YAML reads them.
    private static func words(_ words: [String]) -> JSONText {
        .object([("enum", .list(words.map { $0 == "true" || $0 == "false" ? .truth($0 == "true") : .text($0) }))])
    }

    private static func names(_ of: JSONText) -> JSONText {
        ["type": "array", "minItems": .number(1), "uniqueItems": true, "items": of]
    }

    private static func anyOf(_ schemas: [JSONText]) -> JSONText { .object([("anyOf", .list(schemas))]) }

    /// A map with only these keys.
    private static func closed(_ properties: [(key: String, value: JSONText)]) -> JSONText {
        ["type": "object", "additionalProperties": false, "properties": .object(properties)]
    }

    private static func described(_ schema: JSONText, _ text: String) -> JSONText {
        guard case .object(let entries) = schema else { return schema }
        return .object([("description", .text(text))] + entries)
    }
}
