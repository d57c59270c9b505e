// Tests of whole runs of the binary.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeRun

@Suite(.serialized, .onThreads) struct RunTests {
    private func scenario(_ drivers: String, duration: String = "100ms", extra: String = "") -> Data {
        Data(
            """
            purpose: Does the parent do the right thing?
            represents: itself
            drivers: [\(drivers)]
            durability: memory
            dataset: { items: 50 }
            observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
            writers: { threads: 1, load: open, rate: 1_000/s, arrivals: uniform, change: { update: score }, rows_per_commit: 1 }
            measure: [end_to_end_latency, missed_final, upkeep_cost, harness_cost]
            gate: end_to_end_latency
            warm_up: 20ms
            duration: \(duration)
            hang_timeout: 500ms
            \(extra)
            """.utf8)
    }

    private func outcomes(_ folder: Folder) -> [String: String] {
        let rows = folder.metrics().filter { $0["metric"] == "trial_outcome" }
        // Noise during a trial is not part of its outcome.
        func end(_ flags: String) -> String {
            flags.split(separator: ";").filter { !$0.hasPrefix("noisy:") }.joined(separator: ";")
        }
        return Dictionary(rows.map { ($0["driver"]!, end($0["flags"]!)) }, uniquingKeysWith: { first, _ in first })
    }

    @Test func aSoundRunPassesAndSaysWhereItsReportIs() throws {
        let folder = try Folder()
        try folder.write("Scenarios/sound.yaml", scenario("model"))
        let ran = try Binary.fixture.run(["run"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        let location = try #require(ran.output.split(separator: "\n").last)
        #expect(location.hasPrefix("Report: Reports/") && location.hasSuffix("/report.html"))
        #expect(folder.exists(String(location.dropFirst("Report: ".count))))
        #expect(folder.exists("Reports/latest/environment.json"))
        #expect(!folder.exists("Reports/latest/trials"))
        let rows = folder.metrics()
        #expect(Set(rows.map { $0["driver"]! }) == ["model"], "companions have no rows of their own")
        for metric in ["end_to_end_latency", "missed_final", "upkeep_cost", "harness_cost", "trial_outcome"] {
            #expect(rows.contains { $0["metric"] == metric && $0["value"] != "" }, "\(metric)")
        }
    }

    @Test(arguments: [
        ("crash", Int32(70), "crashed:"), ("killed", 70, "killed:SIGKILL"), ("hang", 3, "hang"),
        ("deaf", 3, "hang"), ("lost-last", 4, "oracle_violation"), ("unavailable", 69, "harness_fault:unavailable"),
        ("commit-error", 70, "harness_fault:store_error"),
    ])
    func oneTrialsEndDoesNotTouchTheOthers(driver: String, status: Int32, flag: String) throws {
        let folder = try Folder()
        try folder.write("a.yaml", scenario("\(driver), model"))
        let before = Self.left()
        let ran = try Binary.fixture.run(
            ["run", "a.yaml", "--driver", driver, "--driver", "model", "--set", "hang_timeout=600ms"], in: folder)
        #expect(ran.status == status, "\(ran.errors)")
        let outcomes = outcomes(folder)
        #expect(outcomes[driver]?.hasPrefix(flag) == true, "\(outcomes)")
        #expect(outcomes["model"] == "", "\(outcomes) \(ran.errors)")
        #expect(folder.metrics().contains { $0["driver"] == "model" && $0["metric"] == "end_to_end_latency" })
        #expect(ran.errors.contains("seed"))
        // A test beside this one may just have made a folder that it has not locked yet. One that stays is a failure.
        var left = Self.left().subtracting(before)
        for _ in 0..<60_000 {
            if left.isEmpty { break }
            usleep(1_000)
            left.formIntersection(Self.left())
        }
        #expect(left.isEmpty, "\(left)")
    }

    /// The store's signal handlers pass on a signal that no fault of its own map has raised.
    @Test func aTrialThatIsSentASignalIsACrash() throws {
        let folder = try Folder()
        try folder.write("a.yaml", scenario("stillingwell", duration: "60s"))
        let run = try Binary.tidegauge.start(["run", "a.yaml"], in: folder)
        var sent = false
        // The run ends with its trial, which lasts a minute.
        while !sent, run.isRunning {
            for child in try Self.children(of: run.processIdentifier) where Self.handlesFaults(child) {
                sent = kill(child, SIGSEGV) == 0
            }
            usleep(1_000)
        }
        // Further trials would follow.
        while run.isRunning, !folder.read("stderr").contains("crashed:") { usleep(1_000) }
        kill(run.processIdentifier, SIGINT)
        run.waitUntilExit()
        let ran = folder.ran(run)
        #expect(sent && ran.status == 130, "\(ran.status) \(ran.errors)")
        #expect(outcomes(folder)["stillingwell"] == "crashed:SIGSEGV", "\(outcomes(folder)) \(ran.errors)")
    }

    /// Process ids of the children of a process.
    private static func children(of parent: Int32) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter { number in
            status(of: number, "PPid") == "\(parent)"
        }
    }

    /// Whether a process handles SIGSEGV and SIGBUS, as with an open store.
    private static func handlesFaults(_ number: Int32) -> Bool {
        let caught = status(of: number, "SigCgt").flatMap { UInt64($0, radix: 16) } ?? 0
        return [SIGSEGV, SIGBUS].allSatisfy { caught & 1 << UInt64($0 - 1) != 0 }
    }

    /// Returns a value of `/proc/<number>/status`, or nil if the process is gone.
    private static func status(of number: Int32, _ key: String) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first { $0.hasPrefix("\(key):") }
            .map { $0.drop { $0 != "\t" }.trimmingCharacters(in: .whitespaces) }
    }

    @Test func aBrokenLimitIsOneAndAMissingFigureIsNothingAgainstTheStore() throws {
        let folder = try Folder()
        // A count, because a broken limit on a time is unknown on a noisy machine.
        try folder.write("a.yaml", scenario("model", extra: "limits: { missed_final: \">= 1\" }"))
        let broken = try Binary.fixture.run(["run", "a.yaml", "--driver", "model"], in: folder)
        #expect(broken.status == 1, "\(broken.errors)")
        #expect(broken.output.contains("limit broken: a: model: missed_final.value >= 1 count: 0"))
        // 100 commits are too few samples for p99.9.
        try folder.write(
            "a.yaml",
            scenario(
                "model",
                extra: "limits: { end_to_end_latency.p99_9: \"< 1s\" }\nprofiles: { full: { duration: 1000s } }"))
        let missing = try Binary.fixture.run(["run", "a.yaml", "--driver", "model"], in: folder)
        #expect(missing.status == 0, "\(missing.errors)")
        #expect(missing.output.contains("limit not judged"))
        #expect(missing.errors.contains("'end_to_end_latency.p99_9' cannot be judged in the profile 'ci': about"))
        let end = "of 1 scenario: nothing lost, nothing wrong, nothing hung\nlimits: 0 of 1 kept, 1 not judged"
        #expect(missing.output.contains(end))
    }

    @Test func ctrlCKeepsWhatWasMeasured() throws {
        let folder = try Folder()
        // The second scenario would take an hour. The first has ended once its row is there.
        try folder.write("s/a.yaml", scenario("model"))
        try folder.write("s/b.yaml", scenario("model", duration: "3600s"))
        let ran = try Binary.fixture.interrupt(["run", "s", "--driver", "model"], in: folder) {
            hasMeasured(folder) && isTrying(folder)
        }
        #expect(ran.status == 130, "\(ran.errors)")
        #expect(ran.output.contains("Report: "))
        let rows = folder.metrics()
        #expect(rows.contains { $0["scenario"] == "a" && $0["metric"] == "end_to_end_latency" })
        #expect(rows.contains { $0["scenario"] == "b" && $0["flags"] == "interrupted" })
        #expect(folder.read("Reports/latest/environment.json").contains("pressureAfter"))
    }

    @Test func helpNamesEveryExitCode() throws {
        let help = try Binary.tidegauge.run(["run", "--help"], in: Folder()).output
        let codes = try #require(help.firstRange(of: "Exit codes: "))
        let numbers = Set(help[codes.upperBound...].prefix(600).split { !$0.isNumber }.compactMap { Int32($0) })
        for outcome in Outcome.allCases { #expect(numbers.contains(outcome.rawValue), "\(outcome)") }
    }

    /// Whether the first scenario's rows are on disk.
    private func hasMeasured(_ folder: Folder) -> Bool {
        folder.metrics().contains { $0["scenario"] == "a" && $0["metric"] == "trial_outcome" }
    }

    /// Folders of in-memory stores that no living process holds.
    private static func left() -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/shm")) ?? []
        return Set(names.filter { $0.hasPrefix("tidegauge-") }).filter { name in
            let folder = open("/dev/shm/\(name)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(folder) }
            return folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0
        }
    }

    /// Whether a trial is running: it has a folder. The previous trial's folder is removed before its rows are on disk.
    private func isTrying(_ folder: Folder) -> Bool {
        let trials = try? FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/Reports/latest/trials")
        return trials?.isEmpty == false
    }

    @Test func aDriverThatCannotIsSkippedWithTheReason() throws {
        let folder = try Folder()
        try folder.write("a.yaml", scenario("model, noop", extra: ""))
        let ran = try Binary.fixture.run(
            ["run", "a.yaml", "--driver", "model", "--driver", "noop", "--set", "durability=full"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(ran.errors.contains("a: skipped on model: it has no durability 'full'"))
        #expect(outcomes(folder) == ["noop": ""])
    }
}
