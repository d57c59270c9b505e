// Tests of the texts that end a program.
import Foundation
import Testing

@Suite("Messages that stop a program")
struct StopTextTests {
    @Test("are printed by an optimised build")
    func optimised() throws {
        let folder = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let main = """
            stopUnless(!CommandLine.arguments.contains("condition"), "the condition does not hold")
            stopProgram("the store at /store is damaged")
            """
        try main.write(toFile: "\(folder)/main.swift", atomically: true, encoding: .utf8)
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/StillingWellBasis/Stop.swift").standardizedFileURL.path
        let built = try run("/usr/bin/env", ["swiftc", "-O", source, "\(folder)/main.swift", "-o", "\(folder)/stop"])
        try #require(built.status == 0, "\(built.errors)")
        let failed = try run("\(folder)/stop", ["condition"])
        #expect(failed.status != 0 && failed.errors.contains("Fatal error: the condition does not hold"))
        let stopped = try run("\(folder)/stop", [])
        #expect(stopped.status != 0 && stopped.errors.contains("Fatal error: the store at /store is damaged"))
    }

    private func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, errors: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        let errors = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let text = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
}
