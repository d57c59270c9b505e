// Tests of runs with several hosts: processes of this machine, hosts of a file, and failing hosts.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads) struct HostTests {
    private func scenario(
        observers: String? = nil, writing: Int = 2, hangTimeout: String = "5s", durationMs: Int = 400,
        measure: String = "end_to_end_latency, write_service_time, clock_uncertainty, writer_share_min"
    ) -> Data {
        Data(
            """
            purpose: Do several hosts write at once?
            represents: itself
            drivers: [stillingwell]
            durability: relaxed
            dataset: { items: 600 }
            observers: { count: 2, match: 0.5, sort: -score, deliver: run-loop\(observers.map { ", " + $0 } ?? "") }
            writers: { hosts: \(writing), threads: 2, load: open, rate: 400/s, arrivals: uniform, rows_per_commit: 2 }
            measure: [\(measure), missed_final]
            gate: end_to_end_latency
            warm_up: 0s
            hang_timeout: \(hangTimeout)
            duration: \(durationMs)ms
            """.utf8)
    }

    @Test func severalProcessesWriteAtOnce() throws {
        let folder = try Folder()
        try folder.write("two.yaml", scenario())
        let ran = try Binary.tidegauge.run(["run", "two.yaml", "--profile", "smoke"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        let figures = folder.figures()
        #expect(figures["oracle_violations.value"]?["value"] == "0" && figures["missed_final.value"]?["value"] == "0")
        #expect(figures["write_service_time.count"]?["value"] == "160")
        #expect(figures["clock_uncertainty.value"]?["value"] == "0")
        #expect(figures["end_to_end_latency.p50"]?["flags"]?.contains("across_hosts") == false)
        let hosts = try #require(try folder.trial()["hosts"] as? [[String: Any]])
        #expect(hosts.map { $0["name"] as? String } == ["here-0", "here-1"])
        #expect(hosts.map { $0["commits"] as? Int } == [80, 80])
        #expect(hosts.allSatisfy { ($0["clock"] as? [String: Any])?["isSame"] as? Bool == true })
        #expect(hosts.allSatisfy { (($0["cpu"] as? [String: Any])?["processNs"] as? Int ?? 0) > 0 })
        #expect(hosts.allSatisfy { $0["noise"] != nil && $0["environment"] == nil })
    }

    /// Words of a hosts file that run the agent behind a relay.
    private func relay(_ options: String, to words: String = "/usr/bin/env") -> String {
        "{ run: [\(Binary.fixture.path), relay, \(options), --, \(words)], binary: \(Binary.tidegauge.path) }"
    }

    @Test func hostsOfAFileAreReachedByTheirCommands() throws {
        let folder = try Folder()
        try folder.write("two.yaml", scenario())
        try folder.write(
            "hosts.yaml",
            Data("db: { run: [], server: true }\na: \(relay("--there-ms, 1, --back-ms, 3"))\nb: { run: [] }\n".utf8))
        let ran = try Binary.tidegauge.run(
            ["run", "two.yaml", "--profile", "smoke", "--hosts", "hosts.yaml"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        let hosts = try #require(try folder.trial()["hosts"] as? [[String: Any]])
        #expect(hosts.map { $0["name"] as? String } == ["a", "b"])
        #expect(hosts.map { $0["commits"] as? Int } == [80, 80])
        // An agent that a command of the hosts file started reports its environment.
        let environment = try #require(hosts[0]["environment"] as? [String: Any])
        #expect((environment["kernel"] as? String)?.isEmpty == false && hosts[1]["environment"] == nil)
        #expect(folder.figures()["oracle_violations.value"]?["value"] == "0")
        #expect(folder.read("Reports/latest/journal.ndjson").contains("\"hostsFile\":\"hosts.yaml\""))
    }

    /// Every host observes its own commits on its own clock. The oracle checks the observers of all processes.
    @Test func observersBesideWritersAreMeasuredOnTheirOwnClock() throws {
        let folder = try Folder()
        try folder.write(
            "echo.yaml",
            scenario(observers: "beside_writers: true", measure: "end_to_end_latency, staleness, clock_uncertainty"))
        let shifted = "unshare, --user, --map-root-user, -T, --monotonic, 1000, --fork, --kill-child, /usr/bin/env"
        let canShift = Self.hasTimeNamespaces
        try folder.write(
            "hosts.yaml",
            Data(
                """
                a: { run: [\(canShift ? shifted : "/usr/bin/env")], binary: \(Binary.tidegauge.path) }
                b: \(relay("--there-ms, 0, --back-ms, 5", to: canShift ? "/usr/bin/env, " + shifted : "/usr/bin/env"))
                """.utf8))
        let ran = try Binary.tidegauge.run(
            ["run", "echo.yaml", "--profile", "smoke", "--hosts", "hosts.yaml"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        let figures = folder.figures()
        #expect(figures["oracle_violations.value"]?["value"] == "0" && figures["missed_final.value"]?["value"] == "0")
        // Two observers in this process and two on each host.
        let replayed = try #require((try folder.trial()["counts"] as? [String: Int])?["replayed_callbacks"])
        #expect(replayed > 6)
        // No pair of commit and observer is from two hosts.
        let latency = try #require(figures["end_to_end_latency.p50"])
        #expect(latency["flags"]?.contains("across_hosts") == false && Double(latency["value"] ?? "") ?? -1 > 0)
        if canShift {
            let uncertaintyNs = try #require(figures["clock_uncertainty.value"]?["value"].flatMap { Double($0) })
            // The connection is 5 ms slower in one direction, and the direction is unknown.
            #expect(uncertaintyNs > 2_500_000)
            #expect(figures.staleness(isMarked: "across_hosts"))
        }
    }

    /// A host that only observes receives other hosts' commits. Its latency is as certain as both clocks.
    @Test(arguments: [false, true]) func hostsThatOnlyObserve(besideWriters: Bool) throws {
        let folder = try Folder()
        let observers = besideWriters ? "beside_writers: true, hosts: 2" : "hosts: 1"
        try folder.write(
            "apart.yaml",
            scenario(
                observers: observers, writing: 1,
                measure: "end_to_end_latency, delivery_latency, staleness, clock_uncertainty"))
        let canShift = Self.hasTimeNamespaces
        func shifted(_ seconds: Int) -> String {
            canShift
                ? "/usr/bin/unshare, --user, --map-root-user, -T, --monotonic, \"\(seconds)\", --fork, --kill-child, /usr/bin/env"
                : "/usr/bin/env"
        }
        try folder.write(
            "hosts.yaml",
            Data(
                """
                a: { run: [\(shifted(1_000))], binary: \(Binary.tidegauge.path) }
                b: \(relay("--there-ms, 0, --back-ms, 5", to: shifted(2_000)))
                """.utf8))
        let ran = try Binary.tidegauge.run(
            ["run", "apart.yaml", "--profile", "smoke", "--hosts", "hosts.yaml"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        let figures = folder.figures()
        #expect(figures["oracle_violations.value"]?["value"] == "0" && figures["missed_final.value"]?["value"] == "0")
        let hosts = try #require(try folder.trial()["hosts"] as? [[String: Any]])
        #expect(hosts.map { $0["commits"] as? Int } == [160, 0])
        // Two observers in this process, and two on each observing host.
        let replayed = try #require((try folder.trial()["counts"] as? [String: Int])?["replayed_callbacks"])
        #expect(replayed > (besideWriters ? 6 : 4))
        let latency = try #require(figures["end_to_end_latency.p50"])
        #expect(Double(latency["value"] ?? "") ?? -1 > 0)
        guard canShift else { return }
        let widths = hosts.map { ($0["clock"] as? [String: Any])?["halfWidthNs"] as? Int ?? 0 }
        let uncertainty = try #require(figures["clock_uncertainty.value"]?["value"])
        #expect(
            widths[0] > 0 && widths[1] > 2_500_000 && Int(uncertainty) == widths[0] + widths[1],
            "\(widths), \(uncertainty)")
        // Commits of the observer's own host have no uncertainty.
        #expect(latency["flags"]?.contains("across_hosts:±\(uncertainty)ns") == !besideWriters)
        #expect(figures.staleness(isMarked: "across_hosts:±\(uncertainty)ns"))
    }

    private static let hasTimeNamespaces: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["--user", "--map-root-user", "-T", "--monotonic", "1000", "--fork", "true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test func aHostThatIsLostIsARowAndWhatTheOthersHaveIsKept() throws {
        for (end, words) in [
            ("kill", "its agent has ended"), ("cut", "its agent has ended"), ("garble", "it said a frame of"),
            ("silence", "it has said nothing for 10000 ms"),
        ] {
            let folder = try Folder()
            try folder.write("two.yaml", scenario(durationMs: 14_000))
            try folder.write(
                "hosts.yaml", Data("a: { run: [] }\nb: \(relay("--after-ms, 500, --then, \(end)"))\n".utf8))
            let ran = try Binary.tidegauge.run(
                ["run", "two.yaml", "--profile", "smoke", "--hosts", "hosts.yaml", "--quiet"], in: folder)
            #expect(ran.status == 70, "\(end): \(ran.errors)")
            let outcome = try #require(folder.figures()["trial_outcome.value"], "\(end)")
            #expect(outcome["value"] == "5" && outcome["flags"] == "harness_fault:host", "\(end)")
            let trial = try folder.trial()
            let notes = try #require(trial["notes"] as? [String]).joined(separator: "\n")
            #expect(notes.contains("'b': \(words)") && notes.contains("ms after the start of"), "\(end): \(notes)")
            let hosts = try #require(trial["hosts"] as? [[String: Any]])
            #expect((hosts[0]["commits"] as? Int ?? 0) > 0 && hosts[0]["loss"] == nil, "\(end): \(hosts)")
            #expect((hosts[1]["loss"] as? String)?.contains("'b'") == true, "\(end): \(hosts)")
            let log = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/Reports/latest/histograms")
            #expect(log.count == 1, "what was measured is kept: \(end)")
        }
    }

    @Test func whatCannotBeIsSaidBeforeAnythingRuns() throws {
        let folder = try Folder()
        try folder.write("two.yaml", scenario())
        try folder.write("one.yaml", Data("a: { run: [] }\n".utf8))
        let few = try Binary.tidegauge.run(["run", "two.yaml", "--hosts", "one.yaml"], in: folder)
        #expect(few.status == 64 && few.errors.contains("needs 2 hosts, and one.yaml has 1"), "\(few.errors)")
        try folder.write("apart.yaml", scenario(observers: "hosts: 1"))
        let fewer = try Binary.tidegauge.run(["run", "apart.yaml", "--hosts", "one.yaml"], in: folder)
        #expect(fewer.status == 64 && fewer.errors.contains("needs 3 hosts, and one.yaml has 1"), "\(fewer.errors)")
        try folder.write("bad.yaml", Data("a: { rnu: [] }\n".utf8))
        let bad = try Binary.tidegauge.run(["run", "two.yaml", "--hosts", "bad.yaml"], in: folder)
        #expect(bad.status == 65 && bad.errors.contains("bad.yaml:1:6: unknown key 'rnu'"), "\(bad.errors)")
        let none = try Binary.tidegauge.run(["run", "two.yaml", "--hosts", "none.yaml"], in: folder)
        #expect(none.status == 65 && none.errors.contains("none.yaml: cannot be read"), "\(none.errors)")
        let unasked = try Binary.tidegauge.run(["run", "interprocess", "--hosts", "one.yaml"], in: folder)
        #expect(unasked.status == 64 && unasked.errors.contains("no scenario uses hosts"), "\(unasked.errors)")
    }
}

extension [String: [String: String]] {
    /// Whether the median staleness has a flag. On a busy machine a trial may have no delivery in its window. Then
    /// there is no value, and this returns true.
    fileprivate func staleness(isMarked flag: String) -> Bool {
        guard let figure = self["staleness.p50"] else { return false }
        return figure["value"] == "" || figure["flags"]?.contains(flag) == true
    }
}
