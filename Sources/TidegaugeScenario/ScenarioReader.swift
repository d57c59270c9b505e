// Parses the tree of a file into a scenario. Continues after errors, so that all problems are reported together.
// Refused values are left out and cause no further problems.
import TidegaugeSpec

struct ScenarioReader {
    /// All top-level keys of a load: keys of the file and settings without a section.
    private static let topKeys = FileKey.ofLoads.map(\.rawValue) + Setting.all(in: nil).map(\.rawValue)

    var problems: ProblemList
    let knownDrivers: [String]
    /// Position of each measured metric.
    private(set) var measurePositions: [Metric: Position] = [:]
    /// Position of each limit's condition.
    var conditionPlaces: [Limit: Position] = [:]
    /// Position of each restricted limit's `at`.
    var limitPlaces: [Limit: Position] = [:]

    init(problems: ProblemList, knownDrivers: [String]) {
        (self.problems, self.knownDrivers) = (problems, knownDrivers)
    }

    /// Returns the scenario as far as it could be read, or nil if too little is valid. Check `problems` in either case.
    mutating func read(_ root: YAMLNode, sha256: String) -> Scenario? {
        guard let entries = entries(of: root, "expects a map that starts with 'purpose: …'") else { return nil }
        func entry(_ key: FileKey) -> YAMLNode.Entry? { entries.first { $0.key == key.rawValue } }
        // A file with threads is an interleaving test: it has no load and no sweep, and its own metrics.
        let isPlay = entry(.threads) != nil

        let purpose = text(
            entry(.purpose), .purpose, "the question that the scenario asks, in one sentence", root.position)
        let represents =
            entry(.represents).map {
                text($0, .represents, "the public complaint or document behind the question", root.position)
            }
            ?? ""
        let drivers = entry(.drivers).map { names($0, known: knownDrivers, of: "driver") } ?? []
        let measure: [Metric] =
            isPlay ? [.hangDetectionTime, .interleavingTestTime] : readMeasure(entry(.measure), root.position)
        let gate = isPlay ? .interleavingTestTime : readGate(entry(.gate), measured: measure)
        let answers =
            entry(.answers).map { names($0, known: SummaryQuestion.allCases.map(\.rawValue), of: "question") } ?? []
        let questions = answers.compactMap { SummaryQuestion(rawValue: $0) }
        for question in questions where !isPlay { checkAnswer(question, entry(.answers), measured: measure) }
        if let position = measurePositions[.upkeepRatio], drivers.count < 2 {
            problems.add(
                position,
                "'upkeep_ratio' compares drivers: name two or more under 'drivers', first the one to compare with")
        }

        var layer = SettingsLayer(.base)
        if isPlay { readPlaySettings(entries, into: &layer) } else { readLoadSettings(entries, into: &layer) }
        let start = problems.place(root.position)
        let quiet = isPlay ? Self.quiet.mapValues { GivenValue(value: $0, place: start, layer: .base) } : [:]
        var base = Settings().overlaid(by: quiet).overlaid(by: layer.values)
        base.refused = layer.refused
        let sweep = isPlay ? nil : entry(.sweep).flatMap { readSweep($0.value) }
        let profiles = isPlay ? [:] : entry(.profiles).map { readProfiles($0.value) } ?? [:]
        let limits = entry(.limits).map { readLimits($0.value, measured: measure) } ?? []

        let counters = measurePositions.filter { $0.key.isOfEngine && !measure.contains($0.key) }
        let measured = measure + counters.sorted { $0.value < $1.value }.map(\.key)

        guard let gate = gate ?? measure.first ?? Metric.allCases.first else { return nil }
        return Scenario(
            name: Self.stem(of: problems.paths[0]), path: problems.paths[0], sha256: sha256, purpose: purpose,
            represents: represents, drivers: drivers, measure: measured, limits: limits, gate: gate,
            namesGate: isPlay || entry(.gate) != nil, answers: questions,
            interleaving: isPlay ? readInterleavingTest(entries, drivers: drivers, root.position) : nil,
            knownDrivers: knownDrivers, start: start,
            conditionPlaces: conditionPlaces.mapValues { problems.place($0) }, base: base, sweep: sweep,
            profiles: profiles)
    }

    private mutating func readLoadSettings(_ entries: [YAMLNode.Entry], into layer: inout SettingsLayer) {
        for entry in entries {
            if Self.topKeys.contains(entry.key) {
                readSetting(entry, into: &layer)
            } else {
                layer.refuse(refuseUnknown(entry, among: Self.topKeys), in: nil)
            }
        }
    }

    private mutating func readPlaySettings(_ entries: [YAMLNode.Entry], into layer: inout SettingsLayer) {
        let known = FileKey.ofInterleavingTests.map(\.rawValue) + Self.interleavingSettings.map(\.rawValue)
        for entry in entries {
            if let setting = Setting(rawValue: entry.key), Self.interleavingSettings.contains(setting) {
                readSetting(entry, into: &layer)
            } else if Self.topKeys.contains(entry.key), !known.contains(entry.key) {
                problems.add(entry.position, "'\(entry.key)' does not apply with 'threads' (remove one of the two)")
            } else if !known.contains(entry.key) {
                refuseUnknown(entry, among: known)
            }
        }
    }

    /// Values for settings that a load requires and an interleaving test does not use.
    private static let quiet: [Setting: SettingValue] = [
        .items: .integer(InterleavingSpec.items), .duration: .durationNs(1_000_000), .warmUp: .durationNs(0),
        .observerCount: .integer(0), .load: .word(WritersSpec.Load.closed.rawValue),
    ]

    /// Returns the stem of a path: `commit-latency` for `Scenarios/latency/commit-latency.yaml`.
    static func stem(of path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    }

    // MARK: Keys

    /// Reports what a node should contain and what it contains.
    mutating func expected(_ what: String, at node: YAMLNode, _ remedy: String = "") {
        problems.add(node.position, "\(what), found \(node.description)\(remedy)")
    }

    /// Returns the entries of a map, or nil after reporting a problem.
    mutating func entries(of node: YAMLNode, _ what: String, _ remedy: String = "") -> [YAMLNode.Entry]? {
        if case .mapping(let entries) = node.content { return entries }
        expected(what, at: node, remedy)
        return nil
    }

    /// Returns the nodes of a list, or nil after reporting a problem.
    mutating func nodes(of node: YAMLNode, _ what: String, _ remedy: String = "") -> [YAMLNode]? {
        if case .sequence(let nodes) = node.content { return nodes }
        expected(what, at: node, remedy)
        return nil
    }

    /// Reports a word that is not in `known`.
    mutating func refuse(_ kind: String, _ word: String, at position: Position, among known: [String]) {
        problems.add(
            position, "unknown \(kind) '\(Quantity.clipped(word))' \(Nearest.hint(for: word, among: known))")
    }

    /// Reports a key that is not in `known`. Returns the known key that was probably meant, or nil.
    @discardableResult
    mutating func refuseUnknown(_ entry: YAMLNode.Entry, among known: [String]) -> String? {
        guard !problems.isFull else { return nil }
        let key = Quantity.clipped(entry.key)
        if let setting = Setting(rawValue: entry.key), let section = setting.section {
            problems.add(entry.position, "unknown key '\(key)' (write '\(section): { \(setting.key): … }')")
            return nil
        }
        // An exact key of another section is a better match than similar words.
        let moved = Setting.allCases.map(\.rawValue).filter { $0.hasSuffix("." + entry.key) }
        let new = Nearest.replacement(of: entry.key, among: known)
        let near = new ?? Nearest.nearest(to: entry.key, among: moved + known)
        let hint = new == nil ? near.map { "(did you mean '\($0)'?)" } : nil
        problems.add(entry.position, "unknown key '\(key)' \(hint ?? Nearest.hint(for: entry.key, among: known))")
        return near.flatMap { known.contains($0) ? $0 : nil }
    }

    private mutating func text(
        _ entry: YAMLNode.Entry?, _ key: FileKey, _ meaning: String, _ start: Position
    ) -> String {
        guard let entry else {
            problems.add(start, "missing key '\(key.rawValue)': \(meaning)")
            return ""
        }
        guard case .scalar(let text, _) = entry.value.content, text.contains(where: { !$0.isWhitespace }) else {
            expected("'\(key.rawValue)' expects text", at: entry.value, ": \(meaning)")
            return ""
        }
        return text
    }

    // MARK: Lists of names

    /// Returns the names of a list and reports unknown and duplicate ones.
    private mutating func names(_ entry: YAMLNode.Entry, known: [String], of kind: String) -> [String] {
        placedNames(entry, known: known, of: kind).map(\.name)
    }

    private mutating func placedNames(
        _ entry: YAMLNode.Entry, known: [String], of kind: String
    ) -> [(name: String, position: Position)] {
        let expected = "'\(entry.key)' expects a list of \(kind)s"
        guard let nodes = nodes(of: entry.value, expected, " (write '[a, b]')") else { return [] }
        if nodes.isEmpty { problems.add(entry.value.position, "'\(entry.key)' names no \(kind); name one or more") }
        var result: [(name: String, position: Position)] = []
        for node in nodes where !problems.isFull {
            guard case .scalar(let name, _) = node.content, !name.isEmpty else {
                self.expected("'\(entry.key)' expects the name of a \(kind)", at: node)
                continue
            }
            if !known.contains(name), kind != "metric" || Metric(rawValue: name) == nil {
                let hint = kind == "metric" ? Self.metricHint(name) : Nearest.hint(for: name, among: known)
                problems.add(node.position, "unknown \(kind) '\(Quantity.clipped(name))' \(hint)")
            } else if result.contains(where: { $0.name == name }) {
                problems.add(node.position, "the \(kind) '\(name)' is named twice")
            } else {
                result.append((name, node.position))
            }
        }
        return result
    }

    // MARK: Metrics

    private mutating func readMeasure(_ entry: YAMLNode.Entry?, _ start: Position) -> [Metric] {
        guard let entry else {
            problems.add(start, "missing key 'measure': the metrics to report, such as '[end_to_end_latency]'")
            return []
        }
        for (name, position) in placedNames(entry, known: Metric.allCases.map(\.rawValue), of: "metric") {
            measurePositions[Metric(rawValue: name)!] = position
        }
        return measurePositions.sorted { $0.value < $1.value }.map(\.key)
    }

    private mutating func readGate(_ entry: YAMLNode.Entry?, measured: [Metric]) -> Metric? {
        guard let entry else { return measured.first { $0.tellsCommitsApart } }
        guard case .scalar(let name, _) = entry.value.content, !name.isEmpty else {
            expected("'gate' expects one metric", at: entry.value)
            return nil
        }
        return metric(name, at: entry.value.position, measured: measured)
    }

    /// Reports a question whose metrics are not measured: the summary would take its answer from another scenario.
    private mutating func checkAnswer(_ question: SummaryQuestion, _ entry: YAMLNode.Entry?, measured: [Metric]) {
        let metrics = question.metrics
        guard let entry, !measured.isEmpty, !metrics.contains(where: measured.contains), let first = metrics.first
        else { return }
        problems.add(
            entry.value.position,
            "'answers: [\(question.rawValue)]' requires '\(first.rawValue)' (add it to 'measure', or remove the answer)"
        )
    }

    /// Names a similar metric, because listing all metrics would be too long.
    private static func metricHint(_ name: String) -> String {
        let known = Metric.allCases.map(\.rawValue)
        let parts = name.split(separator: ".", maxSplits: 1)
        if parts.count == 2, let metric = parts.first.flatMap({ Metric(rawValue: String($0)) }) {
            return "(write '\(metric.rawValue)'; its statistics come with it)"
        }
        let isNear =
            Nearest.replacement(of: name, among: known) != nil || Nearest.nearest(to: name, among: known) != nil
        return isNear ? Nearest.hint(for: name, among: known) : "('tidegauge list metrics' names them all)"
    }

    /// Returns a known and measured metric, or nil after reporting a problem.
    mutating func metric(_ name: String, at position: Position, measured: [Metric]) -> Metric? {
        guard let metric = Metric(rawValue: name) else {
            problems.add(position, "unknown metric '\(Quantity.clipped(name))' \(Self.metricHint(name))")
            return nil
        }
        // The counters of an engine are always measured.
        if metric.isOfEngine, !measured.contains(metric) {
            measurePositions[metric] = measurePositions[metric] ?? position
            return metric
        }
        guard measured.contains(metric) else {
            problems.add(position, "'\(name)' is not measured (add it to 'measure')")
            return nil
        }
        return metric
    }
}
