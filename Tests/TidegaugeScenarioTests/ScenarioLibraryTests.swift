// Tests of finding and reading scenario files: folders, files, and errors in paths.
import Foundation
import Testing

@testable import TidegaugeScenario

@Suite struct ScenarioLibraryTests {
    /// Runs `body` in a new folder with `files`, and removes it.
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
        try ScenarioLibrary(drivers: testDrivers).load(paths).map(\.name)
    }

    private func problems(_ paths: String...) -> [String] {
        do throws(ScenarioErrors) {
            _ = try ScenarioLibrary(drivers: testDrivers).load(paths)
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

    /// A folder that several links lead to is searched once. If it also lies in the searched folder, its path there is
    /// used and not that of a link. Cycles of links do not cause endless searches.
    @Test func linksToFoldersAreFollowed() throws {
        try withFolder(["own/real/one.yaml": plainScenario, "elsewhere/two.yaml": plainScenario]) { folder throws in
            let files = FileManager.default
            for (link, target) in [
                ("a-link", "real"), ("out", "../elsewhere"), ("up", ".."), ("real/self", "."), ("gone", "nowhere"),
            ] {
                try files.createSymbolicLink(atPath: "\(folder)/own/\(link)", withDestinationPath: target)
            }
            let found = try ScenarioLibrary(drivers: testDrivers).load(["\(folder)/own"]).map(\.path)
            #expect(found == ["\(folder)/own/out/two.yaml", "\(folder)/own/real/one.yaml"])
        }
    }

    private static let shipped = [
        "Scenarios/tides/first-tide.yaml": plainScenario, "Scenarios/tides/second-tide.yaml": plainScenario,
        "Scenarios/moons/full-moon.yaml": "extends: ../tides/second-tide.yaml\nduration: 2s",
        "Scenarios/tides/day.txt": "0.1",
    ]

    private func shipped(_ paths: String...) throws -> [String] {
        try ScenarioLibrary(drivers: testDrivers, shipped: Self.shipped).load(paths).map(\.path)
    }

    @Test(arguments: ["tides", "Scenarios/tides", "Scenarios/tides/"])
    func aShippedFolderIsFoundByNameAndByPath(path: String) throws {
        #expect(try shipped(path) == ["Scenarios/tides/first-tide.yaml", "Scenarios/tides/second-tide.yaml"])
    }

    @Test func aShippedScenarioIsFoundByNameUnlessThereIsSuchAPath() throws {
        let files = ["full-moon.yaml": plainScenario, "mine.yaml": "extends: second-tide\ndataset: { items: 5 }"]
        try withFolder(files) { folder throws in
            #expect(try shipped("full-moon") == ["Scenarios/moons/full-moon.yaml"])
            #expect(try shipped("\(folder)/full-moon.yaml") == ["\(folder)/full-moon.yaml"])
            #expect(try shipped("\(folder)/mine.yaml") == ["\(folder)/mine.yaml"])
        }
    }

    @Test func whatIsExtendedAndCannotBeReadIsNotCalledMissing() throws {
        try withFolder(["mine.yaml": "extends: pipe.yaml"]) { folder throws in
            #expect(mkfifo("\(folder)/pipe.yaml", 0o600) == 0)
            let error = try #require(throws: ScenarioErrors.self) { try shipped("\(folder)/mine.yaml") }
            #expect(
                error.problems.map(\.description) == [
                    "\(folder)/mine.yaml:1:10: 'extends' names '\(folder)/pipe.yaml': this is no regular file; a scenario "
                        + "is a *.yaml file"
                ])
        }
    }

    /// A scenario in the folder `Scenarios` is found by its name.
    @Test func aScenarioOnDiskGoesBeforeAShippedOneOfItsName() throws {
        let found = try ScenarioLibrary(drivers: shippedDrivers).load(["commit-latency"])
        #expect(found.map(\.path) == ["Scenarios/latency/commit-latency.yaml"])
    }

    @Test(arguments: [
        ("frist-tide", "did you mean 'first-tide'?"), ("tide", "did you mean 'first-tide' or 'second-tide'?"),
        ("new-tides", "did you mean 'first-tide' or 'second-tide'?"), ("zzz", "and no scenario of that name"),
    ])
    func anUnknownNameGetsTheNearest(name: String, hint: String) {
        var problems: [ScenarioProblem] = []
        #expect(ScenarioSearch(shipped: Self.shipped).files([name], into: &problems).isEmpty)
        #expect(problems.count == 1 && problems[0].description.contains(hint), "\(problems)")
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

    /// Root can read everything, so this test needs another user.
    @Test(.enabled(if: getuid() != 0)) func unreadableFilesAreRefused() throws {
        try withFolder(["secret.yaml": plainScenario]) { folder throws in
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: "\(folder)/secret.yaml")
            #expect(problems(folder) == ["\(folder)/secret.yaml: the file cannot be opened; check its permissions"])
        }
    }

    @Test func aFolderBelowThatCannotBeListedIsNamed() throws {
        try withFolder(["a/one.yaml": plainScenario, "b/two.yaml": plainScenario]) { folder throws in
            var search = ScenarioSearch(shipped: [:])
            search.list = { [list = search.list] in $0.hasSuffix("/b") ? nil : list($0) }
            var problems: [ScenarioProblem] = []
            #expect(search.files([folder], into: &problems) == ["\(folder)/a/one.yaml"])
            #expect(
                problems.map(\.description) == ["\(folder)/b: the folder cannot be listed; check its permissions"])
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
