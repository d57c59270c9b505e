// Tests that the tables of Docs/scenarios.md and the rows of `Setting` agree. After a deliberate change run the tests
// once with TIDEGAUGE_REGENERATE=1 and review the difference.
import Foundation
import Testing

@testable import TidegaugeScenario

@Suite struct ReferenceTests {
    private static let file = URL(fileURLWithPath: "\(shippedScenarios)/../Docs/scenarios.md")
    private static let mark = "<!-- Generated from here on. -->\n\n"

    @Test func theTablesAreThoseOfTheRows() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let head = try #require(text.components(separatedBy: Self.mark).first)
        let made = head + Self.mark + ScenarioReference.markdown + "\n"
        if ProcessInfo.processInfo.environment["TIDEGAUGE_REGENERATE"] != nil {
            try Data(made.utf8).write(to: Self.file)
        }
        #expect(try String(contentsOf: Self.file, encoding: .utf8) == made)
    }

    @Test func everyCellOfATableStaysInIt() {
        #expect(ScenarioReference.settings.allSatisfy { $0.count == ScenarioReference.columns.count })
        for table in ScenarioReference.markdown.components(separatedBy: "\n\n") where table.hasPrefix("|") {
            #expect(Set(table.split(separator: "\n").map { line in line.filter { $0 == "|" }.count }).count == 1)
        }
    }
}
