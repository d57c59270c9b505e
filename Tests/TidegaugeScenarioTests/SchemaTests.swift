// Tests of the schema that `tidegauge schema` prints. The validator was written for this test.
import Foundation
import Testing

@testable import TidegaugeScenario
@testable import TidegaugeSpec

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

    private func faults(_ node: YAMLNode, _ reading: YAMLReading = .yaml12) throws -> [String] {
        try Validator(root: schema, reading: reading).faults(node, schema, "")
    }

    private static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardizedFileURL

    /// Editors parse the file by their own YAML version, and so do tools that convert it to JSON.
    @Test(arguments: YAMLReading.allCases)
    func everyShippedScenarioIsValid(_ reading: YAMLReading) throws {
        let root = Self.repository.appendingPathComponent("Scenarios")
        let names = try #require(FileManager.default.enumerator(atPath: root.path)).compactMap { $0 as? String }
            .filter { $0.hasSuffix(".yaml") }
        #expect(names.count >= 10)
        for name in names {
            let node = try #require(try tree(root.appendingPathComponent(name)))
            let found = try faults(node, reading)
            #expect(found.isEmpty, "\(name): \(found)")
        }
    }

    /// Scenarios in the documents. A partial one is completed first.
    @Test(arguments: YAMLReading.allCases)
    func everyScenarioOfTheDocumentsIsValid(_ reading: YAMLReading) throws {
        var count = 0
        for name in ["README.md", "Docs/scenarios.md"] {
            let document = try String(contentsOf: Self.repository.appendingPathComponent(name), encoding: .utf8)
            for block in document.components(separatedBy: "```yaml\n").dropFirst() {
                let part = block.components(separatedBy: "```")[0]
                // A workflow of a repository is not a scenario.
                if part.contains("\njobs:") { continue }
                let text = part.contains("purpose:") ? part : "purpose: A part.\nrepresents: a document\n" + part
                var problems = ProblemList(path: name)
                let bytes = try #require(YAMLText(Array(text.utf8), into: &problems))
                let node = try #require(YAMLTree.read(bytes, into: &problems), "\(name): \(text)")
                let found = try faults(node, reading)
                #expect(found.isEmpty, "\(name): \(found)")
                count += 1
            }
        }
        #expect(count >= 1)
    }

    /// No key, driver or word of a scenario may resolve to a boolean, a number or null in either YAML version.
    @Test(arguments: YAMLReading.allCases)
    func everyWordOfTheSchemaIsTextInPlainYAML(_ reading: YAMLReading) {
        func check(_ value: Any, in word: String) {
            switch value {
            case let object as [String: Any]:
                for (key, value) in object {
                    if word == "properties" { expectText(key) }
                    check(value, in: word == "properties" ? "" : key)
                }
            case let list as [Any]: for value in list { check(value, in: word) }
            case let text as String where word == "enum" || word == "const": expectText(text)
            default: break
            }
        }
        func expectText(_ word: String) {
            #expect(reading.resolve(word) == .text(word), "\(word) is no text in \(reading.rawValue)")
        }
        check(schema, in: "")
    }

    /// Parts of the reader's messages for unknown keys.
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
            // If the message shortens the key, or quotes none, any fault counts.
            let key = words.count > 1 && !words[1].contains("…") ? String(words[1]) : ""
            #expect(found.contains { key.isEmpty || $0.contains(key) }, "\(complaint): \(found)")
        }
    }

    /// An editor shows the description of the key under the cursor, so every key must have one.
    @Test func everyKeySaysWhatItMeans() {
        func check(_ value: Any, _ place: String) {
            guard let object = value as? [String: Any] else {
                for (index, item) in (value as? [Any] ?? []).enumerated() { check(item, "\(place)/\(index)") }
                return
            }
            for (word, value) in object {
                if ["properties", "patternProperties"].contains(word) {
                    for (key, schema) in value as? [String: [String: Any]] ?? [:] {
                        let description = schema["description"] as? String ?? ""
                        #expect(description.split(separator: " ").count >= 2, "\(place)/\(key)")
                        check(schema, "\(place)/\(key)")
                    }
                } else {
                    check(value, "\(place)/\(word)")
                }
            }
        }
        check(schema, "")
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

/// Finds the places where a node violates a schema.
private struct Validator {
    struct Unknown: Error { var word: String }

    let root: [String: Any]
    let reading: YAMLReading

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
        case "enum":
            isFine = (value as! [Any]).contains { value in
                switch scalar(node) {
                case .text(let text)?: value as? String == text
                case .truth(let truth)?: value as? Bool == truth
                case .number?, .nothing?, .other?, nil: false
                }
            }
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
                // A quoted key counts too, because users may write it without quotes.
                guard reading.resolve(entry.key) == .text(entry.key) else { return ["\(place): no text \(entry.key)"] }
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

    private func scalar(_ node: YAMLNode) -> YAMLReading.Scalar? {
        if case .scalar(let text, let isPlain) = node.content { reading.resolve(text, isPlain: isPlain) } else { nil }
    }

    private func text(_ node: YAMLNode) -> String? {
        if case .text(let text)? = scalar(node) { text } else { nil }
    }

    private func number(_ node: YAMLNode) -> Double? {
        if case .number(let number)? = scalar(node) { number } else { nil }
    }

    private func has(_ node: YAMLNode, _ type: String) -> Bool {
        switch type {
        case "object": map(node) != nil
        case "array": list(node) != nil
        case "string": text(node) != nil
        case "number": number(node) != nil
        case "integer": number(node).map { $0 == $0.rounded() } ?? false
        default: false
        }
    }
}
