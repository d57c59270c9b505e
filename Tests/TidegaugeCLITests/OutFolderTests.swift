// Tests of unusable folders for reports.
import Foundation
import Testing

@Suite struct OutFolderTests {
    private static let scenario = """
        purpose: Is there room for this?
        represents: itself
        drivers: [noop]
        dataset: { items: 50 }
        observers: { count: 1 }
        writers: { rate: 100/s }
        measure: [end_to_end_latency]
        gate: end_to_end_latency
        duration: 50ms
        warm_up: 10ms

        """

    /// Unusable folders by name: the argument, the path in the refusal, and its reason.
    private static let unusable: [(name: String, out: String, path: String, reason: String)] = [
        ("nothing", "", "''", "its name is empty"),
        ("file", "file", "file", "it is a file"),
        ("below a file", "file/below/it", "file", "it is a file"),
        ("device", "/dev/null", "/dev/null", "it is a file"),
        ("dangling link", "dangling", "dangling", "it is a link without a target"),
        ("below a dangling link", "dangling/below", "dangling", "it is a link without a target"),
        ("name too long", String(repeating: "n", count: 300), "nnn", "too long"),
        ("path too long", String(repeating: "abcdefg/", count: 600) + "out", "abcdefg/abcdefg", "too long"),
        ("place without folders", "/proc/reports", "/proc/reports", "No such file or directory"),
    ]

    private static let commands: [[String]] = [
        ["run", "a.yaml", "--driver", "noop", "--profile", "smoke"],
        ["compare", "BINARY", "BINARY", "--scenarios", "a.yaml", "--driver", "noop", "--pairs", "6"],
        ["calibrate", "--scenarios", "a.yaml", "--driver", "noop", "--comparisons", "1"],
        ["history", "--add", "HEAD", "--anchor", "HEAD~1"],
    ]

    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write("a.yaml", Data(Self.scenario.utf8))
        try folder.write("file", Data("kept".utf8))
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/dangling", withDestinationPath: "nowhere")
        return folder
    }

    private func run(_ command: [String], in folder: Folder) throws -> Ran {
        try Binary.tidegauge.run(command.map { $0 == "BINARY" ? Binary.tidegauge.path : $0 }, in: folder)
    }

    @Test(arguments: unusable.map(\.name), commands.map(\.[0]))
    func isRefusedAsUsageWithItsPath(_ name: String, _ command: String) throws {
        let (_, out, path, reason) = Self.unusable.first { $0.name == name }!
        let folder = try folder()
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        let ran = try run(Self.commands.first { $0[0] == command }! + ["--out", out], in: folder)
        #expect(ran.status == 64, "\(ran.errors)")
        #expect(ran.errors.contains("--out: \(path)") && ran.errors.contains(reason), "\(ran.errors)")
        #expect(ran.output.isEmpty && !ran.errors.contains("Domain"), "\(ran.errors)")
        #expect(folder.read("file") == "kept")
        let after = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        #expect(Set(after).subtracting(before) == ["stdout", "stderr"], "something was made")
    }

    @Test func aFolderCalledLatestIsNotTakenAway() throws {
        let folder = try folder()
        try folder.write("out/latest/mine", Data("kept".utf8))
        let ran = try run(Self.commands[0] + ["--out", "out"], in: folder)
        #expect(ran.status == 64, "\(ran.errors)")
        #expect(
            ran.errors.contains("out/latest: cannot replace the link: it is no link; move it away"), "\(ran.errors)")
        #expect(folder.read("out/latest/mine") == "kept")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/out") == ["latest"])
    }

    @Test func aFileCalledCalibrationIsNotTakenAway() throws {
        let folder = try folder()
        try folder.write("out/calibration", Data("kept".utf8))
        let ran = try run(Self.commands[2] + ["--out", "out"], in: folder)
        #expect(ran.status == 64 && ran.errors.contains("out/calibration"), "\(ran.errors)")
        #expect(folder.read("out/calibration") == "kept")
    }

    @Test(arguments: ["file/history.ndjson", "out", "/proc/history.ndjson"])
    func aHistoryThatCannotGrowIsRefused(_ file: String) throws {
        let folder = try folder()
        try folder.write("out/x", Data())
        let ran = try run(Self.commands[3] + ["--file", file, "--out", "out"], in: folder)
        #expect(ran.status == 64 && ran.errors.contains(file.split(separator: "/").first!), "\(ran.errors)")
        #expect(!ran.errors.contains("Domain"), "\(ran.errors)")
    }

    @Test func aReportThatCannotBeMadeAgainIsAFault() throws {
        let folder = try folder()
        #expect(try run(Self.commands[0] + ["--out", "out"], in: folder).status == 0)
        // A folder has the name of a page, so the page cannot be written.
        let page = "\(folder.path)/out/latest/report.html"
        try FileManager.default.removeItem(atPath: page)
        try folder.write("out/latest/report.html/x", Data())
        let ran = try run(["report", "out/latest"], in: folder)
        #expect(ran.status == 70, "\(ran.errors)")
        #expect(ran.errors.contains("out/latest/report.html: cannot "), "\(ran.errors)")
        #expect(!ran.errors.contains("--out"), "there is no such option")
    }

    /// `replay` needs a temporary folder.
    @Test func withoutATemporaryFolderReplayIsAFaultThatSaysSo() throws {
        let folder = try folder()
        try folder.write("play.yaml", Data(Self.play.utf8))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["TMPDIR=\(folder.path)/nowhere", Binary.tidegauge.path, "replay", "play.yaml"]
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try folder.handle("stdout")
        process.standardError = try folder.handle("stderr")
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 70)
        #expect(folder.read("stderr").contains("nowhere: cannot make a folder in it"), "\(folder.read("stderr"))")
        #expect(folder.read("stderr").contains("TMPDIR"))
    }

    private static let play = """
        purpose: Does it end?
        represents: itself
        drivers: [noop]
        threads: { main: [commit] }
        expect: completes

        """

    // MARK: File systems of their own

    /// Whether the tests can mount file systems, which only root may do. Otherwise these tests are left out.
    private static let canMount: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
        process.standardError = FileHandle.nullDevice
        guard geteuid() == 0, (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test(
        .enabled(if: canMount),
        arguments: [
            ("mount -t tmpfs -o ro none out", "Read-only file system"),
            ("mount -t tmpfs -o size=4k none out; head -c 4096 /dev/zero > out/all", "No space left on device"),
        ])
    func aFileSystemThatTakesNothingIsRefused(_ mount: String, _ reason: String) throws {
        let folder = try folder()
        try FileManager.default.createDirectory(atPath: "\(folder.path)/out", withIntermediateDirectories: true)
        for command in [Self.commands[0], Self.commands[1]] {
            let words = command.map { $0 == "BINARY" ? Binary.tidegauge.path : $0 }.joined(separator: " ")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "unshare", "-m", "sh", "-c", "\(mount); exec \(Binary.tidegauge.path) \(words) --out out",
            ]
            process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = try folder.handle("stdout")
            process.standardError = try folder.handle("stderr")
            try process.run()
            process.waitUntilExit()
            let errors = folder.read("stderr")
            #expect(process.terminationStatus == 64, "\(errors)")
            #expect(errors.contains("--out: out") && errors.contains(reason), "\(errors)")
        }
    }

    /// In a folder that everybody may write to, another user may have made the requested folder.
    @Test(.enabled(if: geteuid() == 0), arguments: ["theirs", "theirs/below", "link", "free/latest"])
    func aFolderOfAnotherUserWhereEverybodyMayWriteIsRefused(_ out: String) throws {
        let folder = try folder()
        let everybody = "\(folder.path)/everybody"
        try FileManager.default.createDirectory(atPath: "\(everybody)/theirs", withIntermediateDirectories: true)
        try folder.write("mine/file", Data("kept".utf8))
        symlink("\(folder.path)/mine", "\(everybody)/link")
        chmod(everybody, 0o1777)
        for name in ["theirs", "link"] { lchown("\(everybody)/\(name)", 12_345, 12_345) }
        let out = out == "free/latest" ? "everybody/free" : "everybody/\(out)"
        let ran = try run(Self.commands[0] + ["--out", out], in: folder)
        if out.hasSuffix("free") {
            #expect(ran.status == 0, "\(ran.errors)")
        } else {
            #expect(ran.status == 64 && ran.errors.contains("belongs to another user"), "\(ran.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/mine") == ["file"])
        }
    }
}
