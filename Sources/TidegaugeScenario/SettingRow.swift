// Properties of a key, and the conversion of its values between scenario and spec. Values only.
import TidegaugeSpec

/// A row of the table of keys.
struct SettingRow: Sendable {
    /// Kind of values that may be written.
    let kind: SettingKind
    /// Value if the key is not given; nil if it has no default.
    let defaultValue: SettingValue?
    /// Whether a sweep may vary it.
    let isSwept: Bool
    /// Description that starts with a noun.
    let summary: String
    /// The other key that must have certain values for this key to apply.
    let required: RequiredSetting?
    let read: @Sendable (SweepPoint) -> SettingValue
    let write: @Sendable (SettingValue, inout SweepPoint) -> Void

    init<Value>(
        _ path: WritableKeyPath<SweepPoint, Value> & Sendable, _ type: SettingType<Value>, default: Value,
        isSwept: Bool = true, _ summary: String, only required: RequiredSetting? = nil
    ) {
        self.init(path, type, type.wrap(`default`), isSwept, summary, required)
    }

    /// Marks a missing default. An optional would be ambiguous, because `.none` is a case of many types.
    enum NoDefault { case missing }

    init<Value>(
        _ path: WritableKeyPath<SweepPoint, Value> & Sendable, _ type: SettingType<Value>, default: NoDefault,
        isSwept: Bool = true, _ summary: String, only required: RequiredSetting? = nil
    ) {
        self.init(path, type, nil, isSwept, summary, required)
    }

    private init<Value>(
        _ path: WritableKeyPath<SweepPoint, Value> & Sendable, _ type: SettingType<Value>,
        _ defaultValue: SettingValue?, _ isSwept: Bool, _ summary: String, _ required: RequiredSetting?
    ) {
        kind = type.kind
        self.defaultValue = defaultValue
        (self.isSwept, self.summary, self.required) = (isSwept, summary, required)
        read = { type.wrap($0[keyPath: path]) }
        // The value was parsed as one of this kind, so that unwrapping succeeds.
        write = { value, point in if let value = type.unwrap(value) { point[keyPath: path] = value } }
    }

    /// First part of the summary with a lower-case first letter, for use within a sentence.
    var noun: String {
        let noun = summary.prefix { $0 != "." && $0 != ":" }
        return noun.prefix(1).lowercased() + noun.dropFirst()
    }
}

/// Another key and the values that it must have.
struct RequiredSetting {
    let setting: Setting
    let words: [String]

    static func with<Word: RawRepresentable<String>>(_ setting: Setting, _ words: Word...) -> RequiredSetting {
        RequiredSetting(setting: setting, words: words.map(\.rawValue))
    }

    /// Text such as `'keys: zipf' or 'keys: latest'`.
    var text: String { words.map { "'\(setting.key): \($0)'" }.joined(separator: " or ") }
}

extension Setting {
    private static let rows = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.definition) })

    var row: SettingRow { Self.rows[self]! }

    /// Settings of a section; nil: top-level settings.
    static func all(in section: String?) -> [Setting] { allCases.filter { $0.section == section } }
    static let swept = allCases.filter(\.row.isSwept)

    /// Section such as `dataset` or `observers`; nil for a top-level key.
    var section: String? { rawValue.contains(".") ? String(rawValue.prefix { $0 != "." }) : nil }

    /// Name of the key within its section.
    var key: String { section.map { String(rawValue.dropFirst($0.count + 1)) } ?? rawValue }
}

/// Kind of a setting's values.
enum SettingKind: Sendable {
    case word([String])
    case integer(ClosedRange<Int>)
    /// Greater than 0, at most 1.
    case share
    case durationNs(ClosedRange<Int64>)
    /// Greater than 0/s, at most the bound.
    case rateHz(Double)
    case number(ClosedRange<Double>)
    /// Name of a file beside the scenario's file.
    case file
    /// URL of a server, without a password.
    case url
    /// `none` or a `ConditionSpec`.
    case condition
    case changes
}

/// A value of a setting.
enum SettingValue: Hashable, Sendable {
    case word(String)
    case integer(Int)
    case share(Double)
    case durationNs(Int64)
    case rateHz(Double)
    case number(Double)
    case file(String)
    case url(String)
    case condition(String)
    /// Weights by kind of change.
    case changes([String: Double])

    /// Canonical text, as used in variants. Parses back to the same value.
    var text: String {
        switch self {
        case .word(let word): word
        case .integer(let value): String(value)
        case .share(let value): Quantity.text(value)
        case .durationNs(let value): Quantity.text(durationNs: value)
        case .rateHz(let value): Quantity.text(rateHz: value)
        case .number(let value): Quantity.text(value)
        case .file(let name): name
        case .url(let text): text
        case .condition(let text): text
        case .changes(let weights):
            weights.count == 1
                ? weights.keys.first!
                : weights.sorted { $0.key < $1.key }.map { "\($0.key):\(Quantity.text($0.value))" }
                    .joined(separator: "+")
        }
    }

    fileprivate var payload: Any {
        switch self {
        case .word(let text), .file(let text), .url(let text), .condition(let text): text
        case .integer(let value): value
        case .share(let value), .rateHz(let value), .number(let value): value
        case .durationNs(let value): value
        case .changes(let weights): weights
        }
    }
}

/// Conversion between a kind of value and its type in a spec.
struct SettingType<Value>: Sendable {
    let kind: SettingKind
    let wrap: @Sendable (Value) -> SettingValue
    var unwrap: @Sendable (SettingValue) -> Value? = { $0.payload as? Value }
}

extension SettingType where Value: RawRepresentable<String> & CaseIterable & Hashable & Sendable {
    /// - Parameter words: allowed words.
    static func words(_ words: [Value] = Array(Value.allCases)) -> Self {
        SettingType(
            kind: .word(words.map(\.rawValue)),
            wrap: { .word($0.rawValue) }, unwrap: { ($0.payload as? String).flatMap(Value.init) })
    }
}

extension SettingType {
    /// The word `nothing` is stored as nil, so that it equals a spec without the key.
    static func wordsOrNil<Word>(_ nothing: Word) -> Self
    where Value == Word?, Word: RawRepresentable<String> & CaseIterable & Hashable & Sendable {
        SettingType(
            kind: .word(Word.allCases.map(\.rawValue)), wrap: { .word(($0 ?? nothing).rawValue) },
            unwrap: { value in
                (value.payload as? String).flatMap(Word.init).map { word -> Word? in word == nothing ? nil : word }
            })
    }
}

extension SettingType<String> {
    static func words(_ words: [String]) -> Self { SettingType(kind: .word(words), wrap: { .word($0) }) }
    static func file() -> Self { SettingType(kind: .file, wrap: { .file($0) }) }
}

extension SettingType<String?> {
    /// An empty text is stored as nil, so that it equals a spec without the key.
    static func urlOrNil() -> Self {
        SettingType(
            kind: .url, wrap: { .url($0 ?? "") },
            unwrap: { value in (value.payload as? String).map { $0.isEmpty ? nil : $0 } })
    }
}

extension SettingType<String?> {
    /// `none` is stored as nil, so that it equals a spec without the key.
    static func conditionOrNil() -> Self {
        SettingType(
            kind: .condition, wrap: { .condition($0 ?? Setting.noCondition) },
            unwrap: { value in (value.payload as? String).map { $0 == Setting.noCondition ? nil : $0 } })
    }
}

extension Setting {
    /// Value of a condition that is not set.
    static let noCondition = "none"
}

extension SettingType<Int> {
    static func integer(_ range: ClosedRange<Int>) -> Self { .init(kind: .integer(range), wrap: { .integer($0) }) }
}

extension SettingType<Int?> {
    /// The lower bound is stored as nil, so that it equals a spec without the key.
    static func integerOrNil(_ range: ClosedRange<Int>) -> Self {
        SettingType(
            kind: .integer(range), wrap: { .integer($0 ?? range.lowerBound) },
            unwrap: { value in (value.payload as? Int).map { $0 > range.lowerBound ? $0 : nil } })
    }
}

extension SettingType<Int64> {
    static func durationNs(_ range: ClosedRange<Int64>) -> Self {
        .init(kind: .durationNs(range), wrap: { .durationNs($0) })
    }
}

extension SettingType<Int64?> {
    /// The lower bound is stored as nil, so that it equals a spec without the key.
    static func durationOrNil(_ range: ClosedRange<Int64>) -> Self {
        SettingType(
            kind: .durationNs(range), wrap: { .durationNs($0 ?? range.lowerBound) },
            unwrap: { value in (value.payload as? Int64).map { $0 > range.lowerBound ? $0 : nil } })
    }
}

extension SettingType<Double> {
    static func share() -> Self { SettingType(kind: .share, wrap: { .share($0) }) }
    static func rateHz(_ highest: Double) -> Self { SettingType(kind: .rateHz(highest), wrap: { .rateHz($0) }) }
    static func number(_ range: ClosedRange<Double>) -> Self { .init(kind: .number(range), wrap: { .number($0) }) }
}

extension SettingType<[String: Double]> {
    static var changes: Self {
        SettingType(kind: .changes, wrap: { .changes($0) })
    }
}
