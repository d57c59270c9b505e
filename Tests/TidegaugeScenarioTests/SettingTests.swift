// Tests of the rows of `Setting`.
import Foundation
import Testing

@testable import TidegaugeScenario
@testable import TidegaugeSpec

@Suite struct SettingTests {
    /// Returns a value that is not the default.
    private static func other(_ setting: Setting) -> SettingValue {
        let value: SettingValue =
            switch setting.row.kind {
            case .word(let words): .word(words.last { SettingValue.word($0) != setting.row.defaultValue }!)
            case .integer(let range): .integer(range.upperBound)
            case .share: .share(0.25)
            case .durationNs(let range): .durationNs(range.upperBound)
            case .rateHz(let highest): .rateHz(highest)
            case .number(let range): .number(range.upperBound)
            case .file: .file("day.txt")
            case .url: .url("postgresql://db.example/test")
            case .condition: .condition("score in 7")
            case .changes: .changes(["touch": 1])
            }
        #expect(value != setting.row.defaultValue, "\(setting.rawValue)")
        return value
    }

    @Test(
        "A table gets numbers without their units, and nothing where there is no value",
        arguments: [
            ("dataset.items", "1000", "1000"), ("writers.rate", "1500/s", "1500"), ("writers.rate", "0.5/s", "0.5"),
            ("writers.rate", "none", ""), ("server.standby", "100us", "100000"), ("fault.at", "1min", "60000000000"),
            ("observers.queries", "same", "same"), ("fault.kind", "none", "none"), ("observers.match", "0.25", "0.25"),
            ("writers.change", "insert:1+update:3", "insert:1+update:3"), ("somebody.elses", "7 apples", "7 apples"),
        ])
    func cell(key: String, text: String, cell: String) { #expect(Setting.cell(key, text) == cell) }

    @Test(arguments: Setting.allCases)
    func aValueIsReadWhereItWasWritten(_ setting: Setting) {
        let row = setting.row
        if let value = row.defaultValue { #expect(row.read(.defaults) == value) }
        var point = SweepPoint.defaults
        row.write(Self.other(setting), &point)
        #expect(row.read(point) == Self.other(setting))
        for other in Setting.allCases where other != setting {
            #expect(
                other.row.read(point) == other.row.read(.defaults),
                "\(other.rawValue) has the place as well")
        }
    }

    /// Properties of a spec without a key: those of the trial, and those set outside of a scenario.
    private static let unkeyed = [
        "specVersion", "scenario", "scenarioSHA", "driver", "variant", "trial", "seed", "measure", "traceEvents",
        "interleaving", "count",
        "observers.workNs", "shim", "turns", "workload", "writers.traceNs",
    ]

    @Test func everyPropertyOfASpecHasARow() {
        func places(_ value: Any, _ path: String = "") -> [String: String] {
            let children = Mirror(reflecting: value).children
            guard ["", "dataset", "observers", "writers", "fault"].contains(path) else { return [path: "\(value)"] }
            return children.reduce(into: [:]) { all, child in
                all.merge(places(child.value, path.isEmpty ? child.label! : "\(path).\(child.label!)")) { $1 }
            }
        }
        var point = SweepPoint.defaults
        for setting in Setting.allCases { setting.row.write(Self.other(setting), &point) }
        let (before, after) = (places(SweepPoint.defaults.spec), places(point.spec))
        let unsaid = before.keys.filter { before[$0] == after[$0] }
        #expect(Set(unsaid) == Set(Self.unkeyed), "a property without a row, or one that has one now")
    }

    @Test(arguments: [
        ("none", "none"), ("score in 1_000", "score in 1000"), ("score or  20", "score or 20"),
        ("text in 1", "text in 1"),
        ("text startswith ab", "text startswith ab"), ("text icontains A7", "text icontains A7"),
    ])
    func aConditionIsReadInItsCanonicalForm(_ text: String, _ canonical: String) throws {
        let value = try Setting.condition.value(from: text)
        #expect(value == .condition(canonical))
        #expect(try Setting.condition.value(from: value.text) == value)
    }

    @Test(arguments: [
        ("score", "expects 'none' or one of"), ("score in", "expects 'none'"), ("text or 3", "expects 'none'"),
        ("score in 0", "must have from 1 to 10000 values, found 0"), ("score in many", "expects a whole number"),
        ("text contains é", "expects a word of at most 100 ASCII letters and digits, found 'é'"),
        ("text contains a%", "expects a word"), ("text contains a b", "expects 'none'"),
    ])
    func aConditionThatIsNoneIsRefused(_ text: String, _ message: String) {
        #expect {
            _ = try Setting.condition.value(from: text)
        } throws: {
            ($0 as? ValueFault)?.message.hasPrefix(message) == true
        }
    }

    @Test(arguments: [
        "postgresql://me@db.example:5432/test?sslmode=require", "postgres:///test?host=/run/postgresql",
        "postgresql://me@[2001:db8::7]:5432/test", "postgresql://a:5432,b:5433/test", "postgresql://db.example:/test",
    ])
    func anAddressIsTakenAsItIs(_ text: String) throws {
        #expect(try Setting.serverURL.value(from: text) == .url(text))
    }

    /// Settings are stored in many places, so a URL with a password is refused, and no refusal repeats the password.
    @Test(arguments: [
        "postgresql://me:s3cret@db.example/test", "postgres://db.example/test?password=s3cret",
        "postgres://db.example/?sslmode=require&sslpassword=s3cret", "postgresql://me@db.example/?%70assword=s3cret",
        "postgres:///test?user=me&PassWord=s3cret", "postgresql://me:s3@cret@db.example", "host=db password=s3cret",
        "s3cret", "postgresql://me:s3/cret@db.example/test", "postgresql://me:s3?cret@db.example/test",
        "postgresql://me:1/s3@db.example/test", "postgresql://me:1?s3@db.example/test",
        "postgresql://me:s3#cret@db.example",
        "postgresql://db.example:s3cret/test", "postgresql://a:5432,b:s3cret/test", "postgresql://[::1]:s3cret/test",
    ])
    func aPasswordIsRefused(_ text: String) {
        #expect {
            _ = try Setting.serverURL.value(from: text)
        } throws: { error in
            let words = (error as? ValueFault)?.message ?? ""
            return !words.isEmpty && !words.contains("s3")
        }
    }

    @Test(arguments: Setting.allCases)
    func aRowIsComplete(_ setting: Setting) {
        let row = setting.row
        #expect(row.summary.count > 15 && row.summary.hasSuffix(".") && !row.summary.contains("|"))
        #expect(setting.section.map { FileKey(rawValue: $0).map(FileKey.sections.contains) == true } ?? true)
        if let value = row.defaultValue { #expect(throws: Never.self) { try setting.value(from: value.text) } }
        let schema = ScenarioSchema.json(drivers: [])
        #expect(schema.contains("\"\(setting.key)\"") && schema.contains(row.summary.replacing("\"", with: "\\\"")))
    }

    /// An older binary ignores a key that it does not know.
    @Test func anOlderBinaryIsNotAskedForAYoungerKey() throws {
        let version = TrialSpec.oldestVersion
        let keys: TrialSpec.YoungerKeys = [
            (.churn, version + 1, { $0.observers.churn.map { "\($0)" } })
        ]
        var spec = SweepPoint.defaults.spec
        _ = try SpecDialect.json(spec, version: version, youngerKeys: keys)
        spec.observers.churn = 3
        _ = try SpecDialect.json(spec, version: version + 1, youngerKeys: keys)
        #expect(throws: SpecDialect.Refusal(description: "it is older than 'observers.churn': 3")) {
            try SpecDialect.json(spec, version: version, youngerKeys: keys)
        }
        for (key, since, _) in TrialSpec.youngerKeys {
            #expect(since > version && since <= TrialSpec.currentVersion, "\(key)")
        }
    }

    @Test func anOlderBinaryIsAskedForADriverByTheNameThatItKnows() {
        let renamed = [13: ["b": "a"], 15: ["c": "b", "x": "y"]]
        for (version, name) in [(12, "a"), (13, "b"), (14, "b"), (15, "c"), (16, "c")] {
            #expect(RenamedWords.name("c", in: renamed, version: version) == name)
            #expect(RenamedWords.name("noop", in: renamed, version: version) == "noop")
        }
    }

    @Test(arguments: FaultSpec.Kind.allCases)
    func aFaultTakesWhatItIsInjectedWith(_ kind: FaultSpec.Kind) {
        let spec = FaultSpec(kind: kind, atNs: 1, lengthNs: 2, amount: 3, every: 4)
        let children = Mirror(reflecting: spec.injection).children.first.map { Mirror(reflecting: $0.value) }
        let numbers = children.map { $0.children.isEmpty ? ["\($0.subjectType)"] : $0.children.map { "\($0.value)" } }
        #expect(kind.row.takes.count == (numbers?.count ?? 0))
        #expect(kind.row.summary.hasSuffix("."))
    }
}
