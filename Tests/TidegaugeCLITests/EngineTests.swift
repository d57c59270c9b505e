// Tests of `--driver` with a command or a file: engines in processes of their own, like a user has them.
import Foundation
import Testing

@testable import TidegaugeMeasure

@Suite(.enabled(if: Python.has("json"), "no python3 here")) struct EngineTests {
    private static let dictionary = "python3 \(repository)/Tests/Fixtures/Engines/dictionary.py"
    private static let echo = "python3 \(repository)/Engines/echo-python/engine.py"
    private static let load = ["--profile", "smoke", "--set", "writers.rate=100/s", "--set", "dataset.items=100"]

    @Test func enginesRunBesideADriver() throws {
        let folder = try Folder()
        let file = """
            name: second
            command: python3 dictionary.py $FAULT
            env: { FAULT: split, EMPTY: "" }
            cwd: \(repository)/Tests/Fixtures/Engines
            """
        try folder.write("engine.yaml", Data(file.utf8))
        let drivers = ["--driver", "noop", "--driver", Self.dictionary, "--driver", "engine.yaml"]
        let ran = try Binary.tidegauge.run(["run", "commit-latency"] + Self.load + drivers, in: folder)
        #expect(ran.status == 0, "\(ran.errors)\(ran.output)")
        #expect(Set(folder.metrics().compactMap { $0["driver"] }) == ["noop", "dictionary", "second"])
        let outcomes = folder.metrics().filter { $0["metric"] == "trial_outcome" }
        #expect(outcomes.allSatisfy { $0["value"] == "0" }, "\(outcomes)")
        for file in ["journal.ndjson", "report.html", "summary.md"] {
            #expect(folder.read("Reports/latest/\(file)").contains("1, Python, in a process of its own"), "\(file)")
        }
    }

    /// The row names the kind of failure, the message what the engine did last. No process of the engine is left, and
    /// the exit code is that of a failure.
    @Test(arguments: [
        ("die", "engine_died", "a last word"), ("silent", "engine_silent", "has not answered"),
        ("garbage", "engine_garbage", "'hello, world'"), ("long-line", "engine_line_too_long", "split the lists"),
        ("future", "engine_time", "was read before"), ("stays", "engine_stays", "has not ended within"),
        ("fork-dies", "engine_died", "exit status 3"),
    ])
    func anEngineThatFailsIsARow(_ fault: String, _ name: String, _ words: String) throws {
        let folder = try Folder()
        let family = ProcessFamily("TIDEGAUGE_TEST", UUID().uuidString)
        let file = "command: \(Self.dictionary) \(fault)\nenv: { TIDEGAUGE_TEST: \(family.value) }\n"
        try folder.write("engine.yaml", Data(file.utf8))
        // The other faults must be reported before the limit, also on a busy machine.
        let limit = ["silent", "stays"].contains(fault) ? "10s" : "1h"
        let arguments = ["run", "commit-latency", "--driver", "./engine.yaml", "--set", "hang_timeout=\(limit)"]
        let ran = try Binary.tidegauge.run(arguments + Self.load, in: folder)
        #expect(ran.status == 70, "\(ran.errors)")
        #expect((ran.errors + ran.output).contains(words), "\(ran.errors)\(ran.output)")
        #expect(folder.metrics().contains { $0["flags"]?.contains("harness_fault:\(name)") == true })
        #expect(family.members().isEmpty)
        #expect(ran.output.contains("1 trial of 1 scenario: 1 failed in the engine"), "\(ran.output)")
    }

    /// The run passes, and the engine's lack of a counted form is mentioned at most once.
    @Test func instructionsOfAnEngineAreSkipped() throws {
        let folder = try Folder()
        let arguments = ["run", "instructions", "--driver", Self.dictionary, "--profile", "smoke"]
        let ran = try Binary.tidegauge.run(arguments + ["--set", "dataset.items=100"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        let words = "instructions: skipped on dictionary: it has no counted form"
        #expect(ran.errors.components(separatedBy: words).count <= 2, "\(ran.errors)")
        #expect(!(ran.errors + ran.output).contains("refused"), "\(ran.errors)")
    }

    /// The engine starts a process that does not end with it.
    @Test func anInterruptedRunLeavesNothing() throws {
        let folder = try Folder()
        let family = ProcessFamily("TIDEGAUGE_TEST", UUID().uuidString)
        let file = "command: \(Self.dictionary) fork\nenv: { TIDEGAUGE_TEST: \(family.value) }\n"
        try folder.write("engine.yaml", Data(file.utf8))
        let arguments = ["run", "commit-latency", "--driver", "./engine.yaml", "--set", "duration=10min"] + Self.load
        let ran = try Binary.tidegauge.interrupt(arguments, in: folder) {
            folder.read("stderr").contains("measuring") || folder.read("stdout").contains("measuring")
                || !family.members().isEmpty && FileManager.default.fileExists(atPath: "\(folder.path)/Reports")
        }
        #expect(ran.status == 130, "\(ran.errors)")
        #expect(family.members().isEmpty)
    }

    @Test(arguments: [
        ("name: x\n", "the file has no 'command'"), ("command: a\ncomand: b\n", "did you mean 'command'?"),
        ("command: []\n", "'command' expects a text"), ("command: a\nenv: 1\n", "'env' expects"),
        ("", "names no engine"),
    ])
    func aFileThatCannotBeUsedIsRefused(_ text: String, _ words: String) throws {
        let folder = try Folder()
        try folder.write("engine.yaml", Data(text.utf8))
        let ran = try Binary.tidegauge.run(["run", "commit-latency", "--driver", "./engine.yaml"], in: folder)
        #expect(ran.status == 65 && ran.errors.contains(words), "\(ran.status) \(ran.errors)")
    }

    @Test(arguments: [
        (
            ["run", "commit-latency", "--driver", dictionary, "--driver", "\(dictionary) split"],
            "has the name 'dictionary'"
        ),
        (["run", "commit-latency", "--driver", "no-such-program x"], "no-such-program"),
        (["run", "commit-latency", "--driver", "\(dictionary) bad-name"], "its name 'Dictionary One'"),
        (["compare", "HEAD", "--driver", "./engine"], "or in `tidegauge compare` with --build"),
        (["compare", "HEAD", "--build", "true"], "--build needs --driver"),
        (["compare", "HEAD", "--build", "true", "--driver", "noop"], "with --build it is a command"),
        (["run", "commit-latency", "--driver", "./missing.yaml"], "./missing.yaml"),
    ])
    func anArgumentThatCannotBeUsedIsRefused(_ arguments: [String], _ words: String) throws {
        let ran = try Binary.tidegauge.run(arguments, in: try Folder())
        #expect([64, 65].contains(ran.status) && ran.errors.contains(words), "\(ran.status) \(ran.errors)")
    }

    /// An echo keeps no rows. It is measured and not asked for them.
    @Test func anEchoRuns() throws {
        let folder = try Folder()
        let ran = try Binary.tidegauge.run(
            ["run", "commit-latency", "--driver", Self.echo] + Self.load, in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(Set(folder.metrics().compactMap { $0["driver"] }) == ["echo-python"])
        #expect(ran.errors.contains("echo-python: not checked: rows (fact 'contents')"), "\(ran.errors)")
    }

    /// The limits of a scenario do not apply to an engine in a process, and `--set` of a swept key removes the sweep.
    @Test func aRunNamesTheLimitsAndTheSweepThatItLeavesOut() throws {
        let folder = try Folder()
        let values = ["durability=memory", "duration=200ms", "warm_up=20ms", "writers.rate=100/s", "dataset.items=100"]
        let ran = try Binary.tidegauge.run(
            ["run", "commit-latency", "--driver", Self.echo] + values.flatMap { ["--set", $0] }, in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        let line = "limits: not judged on engines in a process (echo-python)"
        #expect(ran.output.contains("\n\(line)\n"), "\(ran.output)")
        #expect(folder.read("Reports/latest/report.html").contains("<p class=\"quiet\">\(line)</p>"))
        #expect(
            ran.errors.contains(
                "--set durability: 'durability' is swept by commit-latency: the sweep over it is replaced by memory"),
            "\(ran.errors)")
    }
}
