// Short runs of the stress test, so that it cannot rot, and what it refuses. `make stress` is the long one.
import Foundation
import Testing

@Suite(.serialized) struct StressTests {
    private struct Ran {
        var status: Int32
        var output: String
        var errors: String
    }

    private func run(_ arguments: [String]) throws -> Ran {
        let folder = NSTemporaryDirectory() + "livestore-stress-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let process = Process()
        process.executableURL = try FixtureProcess.binary("livestore-stress")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        // Files, so that nothing can block on a full pipe.
        for name in ["out", "err"] { FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil) }
        process.standardOutput = try #require(FileHandle(forWritingAtPath: folder + "/out"))
        process.standardError = try #require(FileHandle(forWritingAtPath: folder + "/err"))
        try process.run()
        process.waitUntilExit()
        return Ran(
            status: process.terminationStatus, output: try String(contentsOfFile: folder + "/out", encoding: .utf8),
            errors: try String(contentsOfFile: folder + "/err", encoding: .utf8))
    }

    /// One of the seeds has the store on a disk, the other in memory.
    @Test("every invariant holds for three seconds", arguments: [2, 3])
    func shortRun(seed: Int) throws {
        let ran = try run(["--seconds", "3", "--seed", "\(seed)"])
        #expect(ran.status == 0, "\(ran.output)\n\(ran.errors)")
        #expect(ran.output.contains("\nviolations    0"), "\(ran.output)")
        #expect(ran.output.hasPrefix("seed \(seed): 3 s, "), "\(ran.output)")
    }

    @Test(
        "bad arguments are refused with what to give instead, and nothing is run",
        arguments: [
            (["--seconds", "0"], "--seconds 60"), (["--seconds", "x"], "--seconds"), (["--seed", "-1"], "--seed"),
            (["--durability", "full"], "relaxed or memory"), (["--folder", "/"], "is not empty"),
            (["--sedd", "1"], "--sedd"),
        ])
    func refused(arguments: [String], remedy: String) throws {
        let ran = try run(arguments)
        #expect(ran.status == 64)
        #expect(ran.errors.contains(remedy), "\(ran.errors)")
        #expect(ran.output.isEmpty)
    }
}
