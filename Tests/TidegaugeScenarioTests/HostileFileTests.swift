// Tests of files that attack the parser.
import Foundation
import Testing

@testable import TidegaugeScenario

@Suite struct HostileFileTests {
    /// Limit on the CPU time of the test's thread.
    private static let limit = Duration.seconds(5)

    private func complaintsInTime(_ text: String) -> [String] {
        let start = threadTime()
        let found = complaints(text)
        #expect(threadTime() - start < Self.limit)
        return found
    }

    /// Returns the CPU time in which a sweep of that many points is read, which the parser accepts.
    private func cpuTime(ofProducts count: Int) -> Duration {
        let products = (1...count).map { "  - { dataset.items: [\($0)], observers.count: [\($0)] }\n" }.joined()
        let start = threadTime()
        #expect(complaints(plainScenario + "\nsweep:\n" + products).isEmpty)
        return threadTime() - start
    }

    @Test(arguments: ["[", "{", "[{", "{a: [", "a: [\n"])
    func bracketsWithoutEndAreRefused(_ unit: String) {
        let found = complaintsInTime("purpose: " + String(repeating: unit, count: 100_000))
        #expect(found.count == 1)
        #expect(found.first?.hasSuffix("brackets are nested deeper than 64") == true)
    }

    @Test(arguments: ["- ", "? ", "- ? ", "? - "])
    func compactNestingIsRefused(_ unit: String) {
        let found = complaintsInTime(String(repeating: unit, count: 100_000) + "x")
        #expect(
            found == [
                "test.yaml:1:\(found.first?.column ?? 0): nested deeper than any scenario; the deepest has 6 levels"
            ])
    }

    @Test func deepIndentationIsRefused() {
        let text = (0..<1_200).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
        #expect(complaintsInTime(text).first?.contains("nested deeper") == true)
        let allowedByTheParser = (0..<900).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
        #expect(complaintsInTime(allowedByTheParser).contains { $0.contains("nested deeper") })
    }

    @Test func aNameWithALineBreakBreaksNoMessage() {
        let text =
            "purpose: A.\nrepresents: a test\ndrivers: [noop]\nexpect: stall\n"
            + "threads: { \"a\\nb\": [{ blocked: \"c\\nd\" }], e: [{ sync: { \"f\\ng\": [] } }] }"
        let found = complaintsInTime(text)
        #expect(found.count == 2 && found.allSatisfy { !$0.contains("\n") }, "\(found)")
    }

    @Test func aBombOfAliasesCostsNothing() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...60 {
            let alias = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(alias)]\n"
        }
        let found = complaintsInTime(text + "? *a60\n: 1\n")
        #expect(found.first?.hasPrefix("test.yaml:1:5: anchors and aliases are not accepted") == true)
    }

    @Test func aBombOfMapsAsKeysCostsNothing() {
        var text = "- &a0 { x: x, y: y }\n"
        for level in 1...60 { text += "- &a\(level) { *a\(level - 1) : 1, [*a\(level - 1)] : 2 }\n" }
        #expect(complaintsInTime(text).first?.contains("anchors and aliases are not accepted") == true)
    }

    private func numbers(_ count: Int) -> String { "[" + (1...count).map(String.init).joined(separator: ",") + "]" }

    /// Eight kilobytes that stand for twenty million points. An axis without a valid value must not make the count of
    /// points zero.
    @Test func anAxisWithoutAValidValueHidesNoPoints() {
        let sweep =
            "dataset.items: \(numbers(1_000)), observers.count: \(numbers(1_000)), dataset.groups: \(numbers(20))"
        for nothing in ["durability: [never]", "observers.match: [7, x]"] {
            for axes in ["\(sweep), \(nothing)", "\(nothing), \(sweep)"] {
                let found = complaintsInTime(plainScenario + "\nsweep: { \(axes) }")
                #expect(found.contains("test.yaml:9:8: the sweep has more than 10000 points; shorten its lists"))
                #expect(found.contains { $0.contains("'durability' has") || $0.contains("'observers.match' ") })
            }
        }
    }

    @Test func aProductThatNoNumberHoldsIsCounted() {
        let axes = [
            "dataset.items", "dataset.groups", "observers.count", "observers.idle_queries", "writers.rows_per_commit",
            "writers.burst", "observers.threads", "writers.threads",
        ].map { "\($0): \(numbers(1_000))" }
        let found = complaintsInTime(plainScenario + "\nsweep: { \(axes.joined(separator: ", ")) }")
        #expect(found.contains("test.yaml:9:8: the sweep has more than 10000 points; shorten its lists"))
    }

    /// Each repetition of each point is a trial in a list.
    @Test func moreTrialsThanAnybodyWaitsForAreRefused() throws {
        let sweep = "\nsweep: { dataset.items: \(numbers(100)), observers.count: \(numbers(100)) }"
        let message =
            "10000 points, 2 times each, are more than 10000 trials; repeat them less often, or shorten the sweep"
        #expect(complaintsInTime(plainScenario + sweep).isEmpty)
        #expect(complaintsInTime(plainScenario + "\nrepeat: 2" + sweep) == ["test.yaml:9:9: \(message)"])
        #expect(
            complaintsInTime(plainScenario + sweep + "\nprofiles: { full: { repeat: 2 } }")
                == ["test.yaml:10:29: \(message)"])
        #expect(throws: ScenarioErrors([ScenarioProblem(.option("--set repeat"), message)])) {
            try parse(plainScenario + sweep).trials(
                profile: .ci, drivers: ["noop"], overrides: ["repeat": "2"])
        }
    }

    @Test func longListsAreReadInTime() {
        // The rules are checked at each point, so the growth of the time is limited and not the time.
        let (few, many) = (cpuTime(ofProducts: 999), cpuTime(ofProducts: 9_990))
        #expect(many < few * 30)
        let limits = (1...1_001).map { "  - { at: { dataset.items: \($0 + 10_000) }, limit: \"< \($0)s\" }\n" }
        let swept = "\nsweep: { dataset.items: \(numbers(9_990)) }\nlimits:\n  delivery_latency.p50:\n"
        #expect(
            complaintsInTime(plainScenario + swept + limits.joined())
                == ["test.yaml:11:3: there are more than 1000 limits; remove some"])
        #expect(complaintsInTime(plainScenario + swept + limits.dropLast().joined()).count == 100)
        let words = String(repeating: "relaxd, ", count: 120_000)
        #expect(complaintsInTime(plainScenario + "\nsweep: { durability: [\(words)full] }").count == 100)
    }

    @Test func aFileIsAMebibyteAtMost() {
        let most = plainScenario + "\n#" + String(repeating: "x", count: (1 << 20) - plainScenario.utf8.count - 2)
        #expect(most.utf8.count == 1 << 20)
        #expect(complaintsInTime(most).isEmpty)
        #expect(
            complaintsInTime(most + "x") == [
                "test.yaml:1:1: the file is longer than 1048576 bytes; a scenario is a page"
            ])
    }

    @Test func longFilesOfKeysListsOrTextAreReadInTime() {
        let keys = (0..<20_000).map { "k\($0): 1\n" }.joined()
        #expect(complaintsInTime(keys).count == 100)
        #expect(!complaintsInTime("sweep: [" + String(repeating: "x,", count: 100_000) + "]").isEmpty)
        #expect(!complaintsInTime("purpose: >\n" + String(repeating: "  word\n", count: 50_000)).isEmpty)
    }

    @Test func aThousandDuplicatesAreReportedInTime() {
        let text = (0..<1_000).map { "k\($0): 1\nk\($0): 1\n" }.joined()
        #expect(complaintsInTime(text).contains { $0.contains("duplicate key") })
    }

    @Test func sweepsThatMultiplyAreRefusedBeforeTheyAreBuilt() {
        let values = "[" + (1...1_000).map(String.init).joined(separator: ", ") + "]"
        let keys = [
            "dataset.items", "observers.count", "observers.threads", "observers.idle_queries", "writers.threads",
            "writers.burst", "writers.rows_per_commit",
        ]
        let sweep = "{ " + keys.map { "\($0): \(values)" }.joined(separator: ", ") + " }"
        let found = complaintsInTime(plainScenario + "\nsweep: \(sweep)\n")
        #expect(found == ["test.yaml:9:8: the sweep has more than 10000 points; shorten its lists"])
        let union = "[" + Array(repeating: sweep, count: 3).joined(separator: ", ") + "]"
        #expect(complaintsInTime(plainScenario + "\nsweep: \(union)\n").count == 1)
    }

    @Test func aLongListIsReadInLinearTime() {
        let values = (1...40_000).map(String.init).joined(separator: ", ")
        let found = complaintsInTime(plainScenario + "\nsweep: { dataset.items: [\(values)] }\n")
        #expect(found == ["test.yaml:9:8: the sweep has more than 10000 points; shorten its lists"])
    }
}

private func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

extension String {
    /// The column in `path:line:column: message`.
    fileprivate var column: Int { Int(split(separator: ":").dropFirst(2).first ?? "") ?? 0 }
}
