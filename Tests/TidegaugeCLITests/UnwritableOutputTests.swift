// Tests of output that cannot be written.
import Foundation
import Testing

@Suite struct UnwritableOutputTests {
    /// Returns the exit code of a shell command with redirected streams. Above 128 it is a signal.
    private func status(_ arguments: String, in folder: Folder, program: Binary = .tidegauge) throws -> Int32 {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "'\(program.path)' \(arguments); exit $?"]
        shell.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        shell.standardInput = FileHandle.nullDevice
        shell.standardOutput = try folder.handle("stdout")
        shell.standardError = try folder.handle("stderr")
        try shell.run()
        shell.waitUntilExit()
        return shell.terminationStatus
    }

    @Test(arguments: [
        ("check nowhere.yaml 2>/dev/full", 65), ("check nowhere.yaml 2>&-", 65), ("check nowhere.yaml >&- 2>&-", 65),
        ("run nowhere.yaml --no-wait <&- 2>&-", 65), ("trial 2>/dev/full", 70), ("trial 2>&-", 70), ("trial <&-", 70),
        ("trial < /", 70), ("agent --worker 2>/dev/full", 0), ("frobnicate 2>/dev/full", 64),
        ("list metrics >/dev/full", 70), ("list metrics >&-", 70), ("list metrics", 0),
    ])
    func theExitCodeIsTheErrorsOwn(arguments: String, code: Int32) throws {
        let folder = try Folder()
        let status = try status(arguments, in: folder)
        #expect(status == code, "\(arguments): \(folder.read("stderr"))")
    }

    /// A limit on the file size is an error with its name, not a signal.
    @Test func aLimitOfFilesIsNamed() throws {
        let folder = try Folder()
        let scenario =
            "purpose: What grows?\ndrivers: [noop]\ndataset: { items: 50 }\nobservers: { count: 1 }\n"
            + "writers: { rate: 200/s }\nmeasure: [missed_final]\nduration: 50ms\n"
        try folder.write("a.yaml", Data(scenario.utf8))
        let status = try status("--version; ulimit -f 1; '\(Binary.tidegauge.path)' run a.yaml --no-wait", in: folder)
        #expect(status == 70 && folder.read("stderr").contains("ulimit -f"), "\(status): \(folder.read("stderr"))")
    }

    /// If descriptor 2 was free, a store's file could get that number, and messages would be written into it.
    @Test func aRunWithoutStandardErrorIsARun() throws {
        let folder = try Folder()
        let scenario = """
            purpose: Where do messages go?
            drivers: [stillingwell]
            dataset: { items: 50 }
            observers: { count: 1 }
            writers: { rate: 200/s }
            measure: [missed_final]
            duration: 50ms

            """
        try folder.write("a.yaml", Data(scenario.utf8))
        #expect(try status("run a.yaml --no-wait --profile smoke 2>&-", in: folder) == 0, "\(folder.read("stdout"))")
        #expect(folder.read("Reports/latest/metrics.csv").contains("missed_final"))
    }
}
