// Finding and reading scenario files: folders, files, and everything that can be wrong with a path.
import Foundation
import Testing

@testable import Scenario

@Suite struct ScenarioLibraryTests {
    /// Runs `body` in a new folder that holds `files`, and removes it.
    private func withFolder(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("scenarios-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        try body(folder.path)
    }

    private func names(_ paths: String...) throws -> [String] {
        try ScenarioLibrary.load(paths: paths, drivers: testDrivers).map(\.name)
    }

    private func problems(_ paths: String...) -> [String] {
        do throws(ScenarioErrors) {
            _ = try ScenarioLibrary.load(paths: paths, drivers: testDrivers)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func foldersAreSearchedInPathOrder() throws {
        let files = [
            "b/second.yaml": plainScenario, "a/first.yaml": plainScenario, "third.yaml": plainScenario, "x.txt": "no",
        ]
        try withFolder(files) { folder throws in
            #expect(try names(folder) == ["first", "second", "third"])
            #expect(try names(folder + "/") == ["first", "second", "third"])
            #expect(try names("\(folder)/third.yaml", "\(folder)/a") == ["third", "first"])
        }
    }

    @Test func aFileNamedTwiceIsReadOnce() throws {
        try withFolder(["one.yaml": plainScenario]) { folder throws in
            #expect(
                try names(folder, "\(folder)/one.yaml", "\(folder)/../\(folder.split(separator: "/").last!)") == ["one"]
            )
        }
    }

    @Test func missingFilesAreNamedWithANearOne() throws {
        try withFolder(["commit-latency.yaml": plainScenario]) { folder throws in
            #expect(
                problems("\(folder)/comit-latency.yaml")
                    == [
                        "\(folder)/comit-latency.yaml: there is no such file or folder (did you mean 'commit-latency.yaml'?)"
                    ])
            #expect(problems("\(folder)/zzz/q.yaml") == ["\(folder)/zzz/q.yaml: there is no such file or folder"])
        }
    }

    @Test func emptyFoldersAndFilesAreRefused() throws {
        try withFolder(["empty.yaml": "", "sub/note.txt": ""]) { folder throws in
            #expect(
                problems("\(folder)/sub", folder) == [
                    "\(folder)/sub: there is no *.yaml in this folder or below",
                    "\(folder)/empty.yaml:1:1: the file is empty; a scenario starts with 'purpose: …'",
                ])
        }
    }

    @Test func whatIsNoRegularFileIsRefused() {
        #expect(problems("/dev/zero") == ["/dev/zero: this is no regular file; a scenario is a *.yaml file"])
    }

    /// Root reads everything, so this can be seen only as somebody else.
    @Test(.enabled(if: getuid() != 0)) func unreadableFilesAreRefused() throws {
        try withFolder(["secret.yaml": plainScenario]) { folder throws in
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: "\(folder)/secret.yaml")
            #expect(problems(folder) == ["\(folder)/secret.yaml: the file cannot be opened; check its permissions"])
        }
    }

    @Test func oneNameIsForOneScenario() throws {
        try withFolder(["a/same.yaml": plainScenario, "b/same.yaml": plainScenario]) { folder throws in
            #expect(
                problems(folder)
                    == [
                        "\(folder)/b/same.yaml: a second scenario named 'same', after \(folder)/a/same.yaml; rename one"
                    ])
        }
    }

    @Test func allFilesAreReportedTogether() throws {
        try withFolder(["a.yaml": "wibble: 1\n" + plainScenario, "b.yaml": plainScenario, "c.yaml": "- 1\n"]) {
            folder in
            let found = problems(folder)
            #expect(found.count == 2)
            #expect(found.first?.hasPrefix("\(folder)/a.yaml:1:1: unknown key 'wibble'") == true)
            #expect(found.last?.hasPrefix("\(folder)/c.yaml:1:1: expects a map") == true)
        }
    }
}
