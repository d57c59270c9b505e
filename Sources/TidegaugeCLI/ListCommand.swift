// `tidegauge list`: lists scenarios, drivers, metrics or keys. Tab-separated, one per line; a fitting table on a
// terminal; or JSON.
import ArgumentParser
import Foundation
import TidegaugeDriver
import TidegaugeReport
import TidegaugeScenario
import TidegaugeSpec

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List scenarios, drivers, metrics or the keys of a scenario.")

    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case scenarios, drivers, metrics, keys
    }

    @Argument(help: "One of \(Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
    var kind: Kind

    @OptionGroup var scenarios: ScenarioPaths

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    func run() throws {
        let (keys, rows) = try table()
        guard json else { return print(Self.text(keys, rows, columns: TerminalOutput.columns), terminator: "") }
        let objects = rows.map { Dictionary(uniqueKeysWithValues: zip(keys, $0)) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(objects), as: UTF8.self))
    }

    /// - Parameter columns: width of the terminal; nil for programs, which get complete cells and no titles.
    static func text(_ keys: [String], _ rows: [[String]], columns: Int?) -> String {
        let lines =
            columns.map { width in
                let table = AlignedTable(
                    rows: [keys] + rows, words: keys.count, separators: [";", "/"], narrowest: 9, keepsFirst: true)
                return table.lines(columns: width)
            } ?? rows.map { $0.joined(separator: "\t") }
        return lines.map { $0 + "\n" }.joined()
    }

    private func table() throws -> (keys: [String], rows: [[String]]) {
        switch kind {
        case .scenarios:
            (
                ["name", "purpose", "path"],
                try scenarios.load().map { [$0.name, $0.purpose, $0.path].map { Escaped.visible($0) } }
            )
        case .drivers:
            (
                ["name", "capabilities", "remarks"],
                Drivers.all.map {
                    [$0.name, Self.summary($0.capabilities), $0.capabilities.remarks.joined(separator: "; ")]
                }
            )
        case .keys: (ScenarioReference.columns, ScenarioReference.settings)
        case .metrics:
            (
                ["name", "unit", "direction", "definition"],
                (Metric.allCases.map { ($0.rawValue, $0.entry) } + Metric.families).map { name, entry in
                    [name, entry.unit.rawValue, entry.worse.direction ?? "neither is better", entry.definition]
                }
            )
        }
    }

    private static func summary(_ capabilities: Capabilities) -> String {
        var words = DurabilityLevel.allCases.filter(capabilities.durabilities.contains).map(\.rawValue)
        if capabilities.sites.contains(.runLoop) { words.append("run-loop") }
        if capabilities.sites.contains(.queue) { words.append("queue") }
        if capabilities.keyKinds.contains(.uuid) { words.append("uuid-keys") }
        if capabilities.hasContents { words.append(capabilities.hasChangeSets ? "change-sets" : "whole-values") }
        if capabilities.hasVersions { words.append("versions") }
        if capabilities.advancesTogether { words.append("one-version-per-context") }
        if capabilities.readsBesideWriter { words.append("reads-beside-writer") }
        if capabilities.can(.callableOnSite) { words.append("calls-on-context") }
        if capabilities.persists { words.append("persists") }
        if capabilities.hasLists { words.append("lists") }
        if capabilities.deepestLinks > 0 { words.append("links-\(capabilities.deepestLinks)") }
        if capabilities.hasPublishers { words.append("publishers") }
        if capabilities.canReadFirst { words.append("read-first") }
        if capabilities.can(.wholeRows) { words.append("text-and-bytes") }
        if capabilities.can(.pinning) { words.append("held snapshots") }
        if capabilities.can(.siteForgetting) { words.append("contexts-that-end") }
        if capabilities.isShared { words.append("many-processes") }
        if capabilities.isShared || capabilities.can(.reachable) { words.append("hosts") }
        return words.joined(separator: " ")
    }
}
