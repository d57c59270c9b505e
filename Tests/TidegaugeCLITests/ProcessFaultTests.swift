// Tests of writers and observers in processes of their own, and of faults. They are whole runs, because a test bundle
// cannot start itself again.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads) struct ProcessFaultTests {
    /// Runs one scenario on the store and returns its figures, by metric and statistic.
    private func figures(
        _ extra: String, measure: String, durability: String = "relaxed", durationMs: Int = 600
    ) throws -> [String: String] {
        let folder = try Folder()
        try folder.write(
            "hit.yaml",
            Data(
                """
                purpose: Does the harness do to a store what it says, and does the store bear it?
                represents: itself
                drivers: [stillingwell]
                durability: \(durability)
                dataset: { items: 500 }
                measure: [\(measure)]
                gate: \(measure.split(separator: ",")[0])
                warm_up: 0s
                duration: \(durationMs)ms
                \(extra)
                """.utf8))
        let ran = try Binary.tidegauge.run(["run", "hit.yaml", "--profile", "smoke"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        var figures: [String: String] = [:]
        for row in folder.metrics() { figures["\(row["metric"]!).\(row["statistic"]!)"] = row["value"]! }
        #expect(figures["oracle_violations.value"] == "0" && figures["missed_final.value"] == "0", "\(ran.errors)")
        return figures
    }

    private let observers = "observers: { count: 2, match: 0.5, sort: -score, deliver: run-loop, audit: sums }"

    private func count(_ figures: [String: String], _ metric: String) throws -> Int {
        try #require(figures["\(metric).count"].flatMap { Int($0) })
    }

    @Test func commitsOfAnotherProcessAreDelivered() throws {
        let figures = try figures(
            """
            \(observers)
            writers: { process: own, load: open, rate: 300/s, arrivals: uniform, rows_per_commit: 2 }
            """, measure: "end_to_end_latency, write_response_time, missed_final")
        #expect(try count(figures, "write_response_time") == 180)
        #expect(try count(figures, "end_to_end_latency") > 180)
    }

    /// The kill usually hits the writer inside a commit. Nothing may be lost, for either outcome of that commit.
    @Test(arguments: [50, 130, 211, 305])
    func whatAKilledWriterWasToldIsThere(atMs: Int) throws {
        let figures = try figures(
            """
            \(observers)
            writers:
              process: own
              load: open
              rate: 2_000/s
              arrivals: uniform
              rows_per_commit: 20
              change: { update-score: 0.6, insert: 0.2, delete: 0.2 }
            fault: { kind: writer-killed, at: \(atMs)ms }
            """, measure: "recovery_time, write_response_time, missed_final")
        // The whole schedule is made by the killed writer or its successor. A missed commit has a sample too.
        let due = try count(figures, "write_response_time")
        #expect(due >= 1_199 && due <= 1_200)
        #expect(try count(figures, "recovery_time") == 1)
    }

    @Test func aStoppedWriterGoesOnAndNobodyHangs() throws {
        let figures = try figures(
            """
            \(observers)
            writers: { process: own, load: open, rate: 500/s, arrivals: uniform }
            fault: { kind: writer-stopped, at: 100ms, length: 200ms }
            """, measure: "recovery_time, write_response_time, missed_final")
        #expect(try count(figures, "recovery_time") == 1)
        // A commit that was due during the stop is late by the rest of the stop or more.
        let latest = try #require(figures["write_response_time.max"].flatMap { Int($0) })
        #expect(latest > 150_000_000)
        #expect(try count(figures, "write_response_time") == 300)
    }

    @Test func aDeadObserverKeepsNothing() throws {
        let figures = try figures(
            """
            observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
            writers: { load: open, rate: 500/s, arrivals: uniform }
            fault: { kind: observer-killed, at: 200ms }
            """, measure: "active_versions, missed_final")
        // 200 commits follow its death.
        #expect(try #require(figures["active_versions.value"].flatMap { Int($0) }) < 150)
    }

    @Test func aFullDiskRefusesAndLosesNothing() throws {
        // A writer without CPU time while the disk is full has no failed commit. Then the trial is repeated, with the
        // disk full for longer.
        for scale in [1, 4, 16] {
            let figures = try figures(
                """
                \(observers)
                writers: { load: open, rate: 200/s, arrivals: uniform, change: insert, rows_per_commit: 50 }
                fault: { kind: disk-full, at: \(150 * scale)ms, length: \(200 * scale)ms }
                """, measure: "failed_commits, write_response_time, missed_final", durationMs: 600 * scale)
            let failed = try #require(figures["failed_commits.value"].flatMap { Int($0) })
            if failed == 0, scale < 16 { continue }
            #expect(failed > 0)
            #expect(try count(figures, "write_response_time") == 120 * scale)
            return
        }
    }

    @Test func flushesTakeAsLongAsTheyAreTold() throws {
        let figures = try figures(
            """
            observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
            writers: { load: open, rate: 20/s, arrivals: uniform }
            fault: { kind: slow-fsync, length: 8ms }
            """, measure: "write_service_time, missed_final", durability: "full")
        #expect(try #require(figures["write_service_time.min"].flatMap { Int($0) }) > 8_000_000)
    }
}
