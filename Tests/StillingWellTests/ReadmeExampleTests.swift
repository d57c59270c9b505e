// Tests of the program that README shows.
import Foundation
import Testing

@Suite("The example in README")
struct ReadmeExampleTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")

    private func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("is Examples/Notes/main.swift, in under 30 lines")
    func isTheProgram() throws {
        let program = try text("Examples/Notes/main.swift")
        #expect(try text("README.md").contains("```swift\n\(program)```\n"))
        #expect(program.split(separator: "\n", omittingEmptySubsequences: false).count - 1 < 30)
    }

    @Test("prints what README says")
    func prints() throws {
        let folder = NSTemporaryDirectory() + "stillingwell-notes-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let process = Process()
        let output = Pipe()
        process.executableURL = try FixtureProcess.binary("stillingwell-notes")
        process.arguments = [folder]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try text("README.md").contains("```\n\(printed)```\n"), "\(printed)")
    }
}
