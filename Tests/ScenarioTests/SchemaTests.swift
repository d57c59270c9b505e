// The schema that `tidegauge schema` prints against the reader: what ships is valid by it, and whatever the reader refuses for
// a key, the schema refuses too. The validator is written for this test and knows just the words the schema uses.
import Foundation
import Testing

@testable import Scenario

@Suite struct SchemaTests {
    private let schema: [String: Any]

    init() throws {
        let json = Data(ScenarioSchema.json(drivers: shippedDrivers).utf8)
        schema = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    }

    private func tree(_ url: URL) throws -> YAMLNode? {
        var problems = ProblemList(path: url.lastPathComponent)
        guard let text = YAMLText([UInt8](try Data(contentsOf: url)), into: &problems) else { return nil }
        return YAMLTree.read(text, into: &problems)
    }

    private func faults(_ node: YAMLNode) throws -> [String] { try Validator(root: schema).faults(node, schema, "") }

    @Test func everyShippedScenarioIsValid() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Scenarios").standardizedFileURL
        let names = try #require(FileManager.default.enumerator(atPath: root.path)).compactMap { $0 as? String }
            .filter { $0.hasSuffix(".yaml") }
        #expect(names.count >= 10)
        for name in names {
            let node = try #require(try tree(root.appendingPathComponent(name)))
            let found = try faults(node)
            #expect(found.isEmpty, "\(name): \(found)")
        }
    }

    /// Reader's words for a key that is none.
    private static let keyErrors = ["unknown key", "unknown profile", "which is no key", "cannot be swept"]

    @Test(arguments: GoldenErrorTests.names)
    func whatTheReaderRefusesForAKeyTheSchemaRefuses(_ name: String) throws {
        let golden = GoldenErrorTests.folder.appendingPathComponent("\(name).txt")
        let complaints = try String(contentsOf: golden, encoding: .utf8).split(separator: "\n")
        guard let node = try tree(GoldenErrorTests.folder.appendingPathComponent("\(name).yaml")) else { return }
        let found = try faults(node)
        if complaints.isEmpty { #expect(found.isEmpty) }
        for complaint in complaints where Self.keyErrors.contains(where: { complaint.contains($0) }) {
            let words = complaint.split(separator: "'", omittingEmptySubsequences: false)
            // Clipped or written with escapes: any fault will do.
            let key = words.count > 1 && !words[1].contains("…") ? String(words[1]) : ""
            #expect(found.contains { key.isEmpty || $0.contains(key) }, "\(complaint): \(found)")
        }
    }

    @Test func everySettingIsThere() {
        let text = ScenarioSchema.json(drivers: [])
        for setting in Setting.allCases { #expect(text.contains("\"\(setting.key)\"")) }
        for metric in Metric.allCases { #expect(text.contains("\"\(metric.rawValue)\"")) }
    }

    @Test(arguments: [
        "duration: 5parsec", "duration: 5", "dataset: { items: -1 }", "dataset: { items: many }", "durability: never",
        "observers: { match: 2 }", "writers: { rate: 200 }", "writers: { change: fly }", "measure: [speed]",
        "measure: end_to_end_latency", "gate: speed", "limits: { speed: \"< 1\" }", "limits: { staleness: fast }",
        "sweep: { duration: [1s] }", "sweep: { dataset.items: 5 }", "profiles: { quick: {} }", "drivers: [nobody]",
        "purpose: \"\"", "writers: { change: { update: stamp } }", "writers: { change: [] }",
    ])
    func wrongValuesAreRefused(line: String) throws {
        let key = line.prefix { $0 != ":" }
        let rest = plainScenario.split(separator: "\n").filter { !$0.hasPrefix(key + ":") }
        var problems = ProblemList(path: "test.yaml")
        let text = try #require(
            YAMLText(Array((rest + [Substring(line)]).joined(separator: "\n").utf8), into: &problems))
        let node = try #require(YAMLTree.read(text, into: &problems))
        #expect(try !faults(node).isEmpty)
    }
}

/// Tells where a node is not what a schema says.
private struct Validator {
    struct Unknown: Error { var word: String }

    let root: [String: Any]

    func faults(_ node: YAMLNode, _ schema: [String: Any], _ place: String) throws -> [String] {
        var faults: [String] = []
        for (word, value) in schema {
            faults += try self.faults(node, word, value, schema, place)
        }
        return faults
    }

    private func faults(
        _ node: YAMLNode, _ word: String, _ value: Any, _ schema: [String: Any], _ place: String
    ) throws -> [String] {
        let isFine: Bool
        switch word {
        case "$schema", "$defs", "title", "description", "patternProperties": return []
        case "$ref":
            let name = String((value as! String).split(separator: "/").last!)
            return try faults(node, (root["$defs"] as! [String: [String: Any]])[name]!, place)
        case "anyOf":
            let tried = try (value as! [[String: Any]]).map { try faults(node, $0, place) }
            return tried.contains { $0.isEmpty }
                ? [] : tried.joined().isEmpty ? ["\(place): none"] : Array(tried.joined())
        case "type": isFine = has(node, value as! String)
        case "enum": isFine = (value as! [String]).contains(text(node) ?? "")
        case "const": isFine = text(node) == value as? String
        case "pattern":
            isFine = text(node).map { $0.range(of: value as! String, options: .regularExpression) != nil } ?? true
        case "minimum": isFine = number(node).map { $0 >= value as! Double } ?? true
        case "exclusiveMinimum": isFine = number(node).map { $0 > value as! Double } ?? true
        case "maximum": isFine = number(node).map { $0 <= value as! Double } ?? true
        case "minItems": isFine = list(node).map { $0.count >= value as! Int } ?? true
        case "uniqueItems": isFine = list(node).map { Set($0.compactMap(text)).count == $0.count } ?? true
        case "required":
            let missing = (value as! [String]).filter { key in !(map(node)?.contains { $0.key == key } ?? true) }
            return missing.map { "\(place): no \($0)" }
        case "items":
            return try (list(node) ?? []).enumerated().flatMap { index, item in
                try faults(item, value as! [String: Any], "\(place)/\(index)")
            }
        case "properties":
            return try (map(node) ?? []).flatMap { entry in
                try (value as! [String: [String: Any]])[entry.key].map {
                    try faults(entry.value, $0, "\(place)/\(entry.key)")
                } ?? []
            }
        case "additionalProperties":
            let known = Set((schema["properties"] as? [String: Any] ?? [:]).keys)
            let patterns = schema["patternProperties"] as? [String: [String: Any]] ?? [:]
            return try (map(node) ?? []).flatMap { entry -> [String] in
                if known.contains(entry.key) { return [] }
                if let pattern = patterns.first(where: {
                    entry.key.range(of: $0.key, options: .regularExpression) != nil
                }) {
                    return try faults(entry.value, pattern.value, "\(place)/\(entry.key)")
                }
                if let any = value as? [String: Any] { return try faults(entry.value, any, "\(place)/\(entry.key)") }
                return ["\(place): no key \(entry.key)"]
            }
        default: throw Unknown(word: word)
        }
        return isFine ? [] : ["\(place): \(word) \(value)"]
    }

    private func map(_ node: YAMLNode) -> [YAMLNode.Entry]? {
        if case .mapping(let entries) = node.content { entries } else { nil }
    }

    private func list(_ node: YAMLNode) -> [YAMLNode]? {
        if case .sequence(let nodes) = node.content { nodes } else { nil }
    }

    private func text(_ node: YAMLNode) -> String? {
        if case .scalar(let text, _) = node.content { text } else { nil }
    }

    /// As YAML 1.2 has it: no underscores.
    private func number(_ node: YAMLNode) -> Double? {
        if case .scalar(let text, isPlain: true) = node.content { Double(text) } else { nil }
    }

    private func has(_ node: YAMLNode, _ type: String) -> Bool {
        switch type {
        case "object": map(node) != nil
        case "array": list(node) != nil
        case "string": text(node) != nil && number(node) == nil
        case "number": number(node) != nil
        case "integer": number(node).map { $0 == $0.rounded() } ?? false
        default: false
        }
    }
}
