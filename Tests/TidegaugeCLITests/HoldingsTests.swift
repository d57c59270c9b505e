// Tests of stores with and without leaks per commit, against the limits of the scenario that detects them.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads) struct HoldingsTests {
    private static let soak = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Scenarios/fairness/soak.yaml").standardizedFileURL

    /// Runs the shipped scenario on one driver, with these settings.
    private func run(_ binary: Binary, _ driver: String, _ settings: [String]) throws -> Ran {
        let folder = try Folder()
        let text = try String(contentsOf: Self.soak, encoding: .utf8)
        try folder.write("soak.yaml", Data("drivers: [\(driver)]\n\(text)".utf8))
        return try binary.run(
            ["run", "soak.yaml", "--profile", "ci", "--quiet"] + settings.flatMap { ["--set", $0] }, in: folder)
    }

    private func broken(_ ran: Ran) -> [String] {
        (ran.output + ran.errors).split(separator: "\n").filter { $0.hasPrefix("limit broken") }.map(String.init)
    }

    private static let small = [
        "dataset.items=60", "observers.count=1", "observers.threads=1", "observers.idle_queries=0",
        "writers.rate=500/s",
    ]

    @Test(arguments: [
        ("leaked-bytes", "live_bytes.slope <= "), ("leaked-file", "open_files.slope <= "),
        ("growing-file", "file_bytes.slope <= "),
    ])
    func whatIsKeptOfEachCommitBreaksTheLimit(driver: String, limit: String) throws {
        let ran = try run(.fixture, driver, Self.small + ["duration=2s"])
        #expect(ran.status == 1, "\(ran.errors)")
        #expect(broken(ran).contains { $0.contains(limit) }, "\(ran.output)")
    }

    /// Durations of the trials. Data that is kept once, or until an observer has caught up, is little per commit in a
    /// long trial. A leak per commit stays the same.
    private static let durations = ["2s", "8s", "32s"]

    /// Returns the limits that the longest trial breaks, or none if a trial of some length breaks none.
    private func brokenForGood(
        _ binary: Binary, _ driver: String, _ settings: [String], where isMeant: (String) -> Bool = { _ in true }
    ) throws -> [String] {
        var found: [String] = []
        for duration in Self.durations {
            let ran = try run(binary, driver, settings + ["duration=\(duration)"])
            #expect(ran.output.contains("missed"), "\(ran.errors)")
            found = broken(ran).filter(isMeant)
            if found.isEmpty { break }
        }
        return found
    }

    @Test func storesThatKeepNothingKeepTheLimits() throws {
        #expect(try brokenForGood(.fixture, "model", Self.small) == [])
        // The size of the store's file depends on how long the machine delays an observer, so it is not checked.
        let store = try brokenForGood(.tidegauge, "stillingwell", []) {
            $0.contains("live_bytes") || $0.contains("open_files")
        }
        #expect(store == [])
    }
}
