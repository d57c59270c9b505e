// Tests of the command line for new users.
import Foundation
import Testing
import TidegaugeRun

@testable import TidegaugeCLI

@Suite struct MannersTests {
    private static let scenario = """
        purpose: Who can do this?
        drivers: [noop, stillingwell]
        dataset: { items: 50 }
        observers: { count: 1 }
        writers: { rate: 100/s }
        measure: [end_to_end_latency]
        duration: 50ms

        """

    private func said(_ arguments: [String], in folder: Folder? = nil) throws -> Ran {
        try Binary.tidegauge.run(arguments, in: try folder ?? Folder())
    }

    @Test func theVersionIsAPlainOne() throws {
        let ran = try said(["--version"])
        #expect(ran.status == 0 && ran.output.contains(/^[0-9]+\.[0-9]+\.[0-9]+\n$/), "\(ran.output)")
    }

    @Test("Every exit code is in the help of run and compare, and in Docs/report.md", arguments: Outcome.allCases)
    func exitCodes(outcome: Outcome) throws {
        let document = try String(contentsOfFile: repository + "/Docs/report.md", encoding: .utf8)
        #expect(document.contains("\n| \(outcome.rawValue) | "), "\(outcome)")
        for command in ["run", "compare"] {
            let help = try said([command, "--help"]).output
            #expect(help.contains("Exit codes: 0 "))
            #expect(help.contains(try Regex("\\b\(outcome.rawValue)\\b")), "\(command): \(outcome)")
        }
    }

    @Test(arguments: [
        (["run", "--driver"], "stillingwell"), (["run", "--driver"], "sqlite-hooks"), (["run"], "commit-latency"),
        (["run", "--set"], "dataset.items="), (["compare", "--scenario"], "commit-latency"),
    ])
    func tabOffers(words: [String], offer: String) throws {
        let name = words.count > 1 ? words[1] : "positional@0"
        // Calls completion like the scripts of `--generate-completion-script`.
        let ran = try said(
            ["---completion"] + words.prefix(1) + ["--", name, "2", "0"] + ["tidegauge"] + words + [""])
        #expect(ran.output.split(separator: "\n").contains(Substring(offer)), "\(ran.output) \(ran.errors)")
    }

    @Test func aCompletionScriptIsPrinted() throws {
        let script = try said(["--generate-completion-script", "bash"])
        #expect(script.status == 0 && script.output.contains("---completion") && script.output.contains("drivers"))
    }

    @Test(arguments: [
        (["rnu"], "unknown command 'rnu' (did you mean 'run'?)"),
        (["chekc", "a.yaml"], "unknown command 'chekc' (did you mean 'check'?)"),
        (["zzzzzzzz"], "unknown command 'zzzzzzzz' (known here: init, run, "),
        (["run", "a.yaml", "--filter", "b"], "no scenario matches --filter 'b'"),
        (["rum"], "unknown command 'rum' (did you mean 'run'?)"),
        (["run", "commit-latency", "--filter", "comit-latency"], "(did you mean 'commit-latency'?)"),
        (["run", "commit-latency", "--filter", "comit"], "(did you mean 'commit-latency'?)"),
        (["explore", "commit-latency"], "commit-latency has no 'threads'"),
        (["replay", "commit-latency"], "commit-latency has no 'threads'"),
        (["run", "a.yaml", "--out", "~"], "a shell expands '~' only outside of quotes"),
        (["run", "a.yaml", "--out", "~/reports"], "a shell expands '~' only outside of quotes"),
    ])
    func aSlipIsAnswered(arguments: [String], words: String) throws {
        let folder = try Folder()
        try folder.write("a.yaml", Data(Self.scenario.utf8))
        let ran = try said(arguments, in: folder)
        #expect(ran.status == 64 && ran.errors.contains(words), "\(ran.errors)")
        #expect(!folder.exists("~") && !folder.exists("Reports"))
    }

    @Test func aFolderMayBeginWithADash() throws {
        let folder = try Folder()
        try folder.write("a.yaml", Data(Self.scenario.utf8))
        let ran = try said(["run", "a.yaml", "--profile", "smoke", "--driver", "noop", "--out=-x"], in: folder)
        #expect(ran.status == 0 && folder.exists("-x/latest/metrics.csv"), "\(ran.errors)")
    }

    @Test func whatMovesACursorIsShownAndNotDone() throws {
        let folder = try Folder()
        try folder.write("a\u{1B}[2Jb.yaml", Data(Self.scenario.utf8))
        try folder.write("bad\u{1B}[2J.yaml", Data("purpose: [".utf8))
        for arguments in [
            ["check", "a\u{1B}[2Jb.yaml"], ["check", "bad\u{1B}[2J.yaml"], ["check", "gone\u{1B}[2J.yaml"],
            ["list", "scenarios", "a\u{1B}[2Jb.yaml"],
            ["run", "a\u{1B}[2Jb.yaml", "--profile", "smoke", "--driver", "noop"],
            ["run", "a\u{1B}[2Jb.yaml", "--set", "x\u{1B}[2J"], ["frob\u{1B}[2J"],
        ] {
            let ran = try said(arguments, in: folder)
            #expect(!(ran.output + ran.errors).contains("\u{1B}"), "\(arguments)")
        }
    }

    @Test(arguments: ["=HYPERLINK(1),x", "+1", "-1", "@x"]) func aNameIsNoFormula(name: String) throws {
        let folder = try Folder()
        try folder.write("s/\(name).yaml", Data(Self.scenario.utf8))
        let ran = try said(["run", "s"], in: folder)
        #expect(ran.status == 65 && ran.errors.contains("begins with a letter or a digit"), "\(ran.errors)")
    }

    /// Nothing is quoted from a file that is not a scenario.
    @Test func anotherFileIsNotExtended() throws {
        let folder = try Folder()
        try folder.write("secret.txt", Data("root:x:0:0:root".utf8))
        for name in ["/etc/passwd", "secret.txt"] {
            try folder.write("a.yaml", Data("extends: \(name)\npurpose: Who is there?\n".utf8))
            let ran = try said(["check", "a.yaml"], in: folder)
            #expect(ran.status == 65 && ran.errors.contains("a scenario is a *.yaml file"), "\(ran.errors)")
            #expect(!ran.errors.contains("root:"), "\(ran.errors)")
        }
    }

    @Test func aRunIsGoneOnWithWhereItBegan() throws {
        let folder = try Folder()
        try folder.write("in/a.yaml", Data(Self.scenario.utf8))
        let inside = try Folder()
        try inside.write("a.yaml", Data(Self.scenario.utf8))
        let first = try said(["run", "a.yaml", "--profile", "smoke", "--driver", "noop"], in: inside)
        #expect(first.status == 0, "\(first.errors)")
        let ran = try said(["run", "--resume", "\(inside.path)/Reports/latest"], in: folder)
        #expect(
            ran.errors.contains("are relative to the folder that it began in: continue from there"), "\(ran.errors)")
    }

    @Test func aPartOfNamesOfDriversIsAnswered() throws {
        let ran = try said(["run", "commit-latency", "--driver", "grdb"])
        #expect(
            ran.status == 64 && ran.errors.contains("did you mean") && ran.errors.contains("'grdb-pool'"),
            "\(ran.errors)")
    }

    @Test(
        "A driver with which nothing would run is refused, with what to do",
        arguments: ["sqlite-hooks", "notification-queue"])
    func nothingToRun(driver: String) throws {
        let folder = try Folder()
        try folder.write("a.yaml", Data(Self.scenario.utf8))
        let ran = try said(["run", "a.yaml", "--driver", driver], in: folder)
        #expect(ran.status == 64 && ran.output.isEmpty, "\(ran.errors)")
        #expect(ran.errors.contains("a on \(driver): its drivers are noop, stillingwell"), "\(ran.errors)")
        #expect(ran.errors.contains("leave --driver out") && !folder.exists("Reports"), "\(ran.errors)")
        // Together with a usable driver, the other one is left out as usual.
        let both = try said(
            ["run", "a.yaml", "--driver", driver, "--driver", "noop", "--profile", "smoke"], in: folder)
        #expect(both.status == 0, "\(both.errors)")
    }

    @Test func aDriverThatCannotDoItIsToldWhy() throws {
        let folder = try Folder()
        let held = Self.scenario.replacingOccurrences(of: "drivers: [noop, stillingwell]\n", with: "")
            .replacingOccurrences(of: "count: 1", with: "count: 1, held_snapshots: 1")
        try folder.write("a.yaml", Data(held.utf8))
        let ran = try Binary.peers.run(["run", "a.yaml", "--driver", "grdb-pool"], in: folder)
        #expect(ran.status == 64 && ran.errors.contains("  a on grdb-pool: it holds no versions"), "\(ran.errors)")
    }

    @Test(
        "A person is shown a table that fits, with titles; a program reads a line each, with tabs and nothing cut off")
    func listsFit() {
        let keys = ["name", "purpose", "path"]
        let rows = [
            [
                "commit-latency", "How long does a commit take to reach an observer?",
                "Scenarios/latency/commit-latency.yaml",
            ],
            ["soak", "What is left?", "Scenarios/fairness/soak.yaml"],
        ]
        let piped = ListCommand.text(keys, rows, columns: nil)
        #expect(piped == rows.map { $0.joined(separator: "\t") + "\n" }.joined())
        for columns in [36, 72, 200] {
            let lines = ListCommand.text(keys, rows, columns: columns).split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
            #expect(lines[0].hasPrefix("name            purpose"), "\(lines)")
            let words = Set(lines.flatMap { $0.split(separator: " ") })
            for word in rows.flatMap({ $0.flatMap { $0.split(separator: " ") } }) where !word.contains("/") {
                #expect(words.contains(word), "\(columns): \(lines)")
            }
            #expect((lines.count == 3) == (columns == 200))
        }
        #expect(ListCommand.text(keys, rows, columns: 72).contains("latency/"))
    }
}
