// Tests of the action for continuous integration, run as in a caller's repository.
import Foundation
import Testing

@Suite struct ActionTests {
    /// Returns the first shell script of the action.
    private func script() throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../.github/actions/compare/action.yml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: "run: |\n"))
        let lines = text[start.upperBound...].split(separator: "\n").prefix { $0.hasPrefix("        ") }
        return lines.joined(separator: "\n")
    }

    @Test func itRunsItsOwnSetupAndNotThatOfTheCallersRepository() throws {
        let folder = try Folder()
        for (name, word) in [
            ("action/Tools/setup.sh", "own"), ("caller/Tools/setup.sh", "caller"), ("bin/swift", "built"),
        ] {
            try folder.write(name, Data("#!/bin/sh\necho \(word)\n".utf8))
            chmod("\(folder.path)/\(name)", 0o755)
        }
        try folder.write("action/.github/actions/compare/action.yml", Data())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-e", "-c", try script()]
        process.currentDirectoryURL = URL(fileURLWithPath: "\(folder.path)/caller")
        process.environment = [
            "PATH": "\(folder.path)/bin:/usr/bin:/bin", "PRODUCT": "mine",
            "ACTION_PATH": "\(folder.path)/action/.github/actions/compare",
        ]
        process.standardOutput = try folder.handle("stdout")
        process.standardError = try folder.handle("stderr")
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(folder.read("stderr"))")
        #expect(folder.read("stdout").hasPrefix("own\nbuilt\nthe judge is built after "))
    }
}
