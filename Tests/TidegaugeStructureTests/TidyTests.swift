// Tests of the floor plan of CONTRIBUTING.md, of promises that replace checks of the compiler, of comments, of subjects
// of commits and of target names.
import Foundation
import Testing

@Suite struct TidyTests {
    private static let plan = FloorPlan.ofContributing

    /// Folders with comments.
    private static let commented = ["Sources", "Tests", "Tools", "Examples"]

    /// Folders that may name types of each other: an object belongs to a connection, and a connection makes objects.
    private static let mutual = [["Sources/StillingWell/Model", "Sources/StillingWell/Connections"]]

    @Test func theFloorPlanIsWhole() {
        #expect(Self.plan.rooms.count > 20, "CONTRIBUTING.md: the table of the floor plan was not found")
        for module in Module.all where !Self.plan.rooms.contains(where: { $0.name == module.name }) {
            Issue.record("CONTRIBUTING.md: the floor plan has no row for Sources/\(module.name): add it")
        }
        let folders = Set(Module.all.flatMap(\.files).map(\.path).flatMap(Self.folders))
        for room in Self.plan.rooms where !folders.contains("Sources/\(room.name)") {
            Issue.record("CONTRIBUTING.md:\(room.line): there is no Sources/\(room.name): correct the floor plan")
        }
        for complaint in Module.all.flatMap(Self.plan.unnamedFolders) { Issue.record("\(complaint)") }
    }

    private static func folders(_ path: String) -> [String] {
        path.indices.filter { path[$0] == "/" }.map { String(path[..<$0]) }
    }

    @Test func importsFollowTheFloorPlan() {
        for complaint in Module.all.flatMap(Self.plan.wrongImports) { Issue.record("\(complaint)") }
    }

    @Test func typeReferencesFollowTheFloorPlan() {
        for module in Module.all {
            for complaint in Self.plan.wrongReferences(module, except: Self.mutual) { Issue.record("\(complaint)") }
        }
    }

    @Test func aWrongImportAndAWrongReferenceAreFound() {
        let low = Module(
            name: "Low",
            files: [
                SourceFile(path: "Sources/Low/Base/A.swift", text: "// High\nimport High\nstruct A { let b: B }"),
                SourceFile(path: "Sources/Low/Top/B.swift", text: "struct B { let a: A }"),
                SourceFile(path: "Sources/Low/Loft/C.swift", text: "import Low"),
            ])
        let high = Module(name: "High", files: [SourceFile(path: "Sources/High/D.swift", text: "import struct Low.A")])
        let plan = FloorPlan(
            "## Floor plan\n\n| room | what |\n|---|---|\n| `Low` | `Base` and `Top`, see `A` |\n| `High` | |\n## Next\n| `No` | |",
            modules: [low, high])
        #expect(plan.rooms.map(\.name) == ["Low", "High"])
        #expect(plan.wrongImports(high).isEmpty && plan.wrongReferences(high).isEmpty)
        let (imports, references) = (plan.wrongImports(low), plan.wrongReferences(low))
        #expect(imports.count == 1 && imports[0].hasPrefix("Sources/Low/Base/A.swift:2: imports High,"))
        #expect(references.count == 1 && references[0].hasPrefix("Sources/Low/Base/A.swift:3: names B of "))
        #expect(plan.wrongReferences(low, except: [["Sources/Low/Base", "Sources/Low/Top"]]).isEmpty)
        #expect(plan.unnamedFolders(low).count == 1)
    }

    /// The bound is on the sum over all kinds, so that replacing one kind by another gains nothing.
    @Test func uncheckedPromisesDoNotSpread() throws {
        let manifest = try String(contentsOfFile: "\(Module.root)/Package.swift", encoding: .utf8)
        let files = Module.all.flatMap(\.files) + [SourceFile(path: "Package.swift", text: manifest)]
        let counts = [
            "@unchecked", "nonisolated(unsafe)", "@exclusivity(unchecked)", "unowned(unsafe)", "Unmanaged",
            "-enforce-exclusivity",
        ].map { kind in (kind, files.reduce(0) { $0 + $1.places(of: kind).count }) }
        let sum = counts.reduce(0) { $0 + $1.1 }
        #expect(
            sum <= 108,
            """
            \(sum) lines of Sources and Package.swift promise what the compiler does not check, at most 108 may \
            (\(counts.map { "\($0.1) \($0.0)" }.joined(separator: ", "))): let a type guard the state
            """)
    }

    /// A declaration that was moved or deleted may leave its comment behind.
    @Test(arguments: commented)
    func docCommentsDocumentADeclaration(folder: String) throws {
        for path in Prose.swiftFiles(folder) {
            let text = try String(contentsOfFile: "\(Module.root)/\(path)", encoding: .utf8)
            for line in SourceFile.orphanComments(text.split(separator: "\n", omittingEmptySubsequences: false)) {
                Issue.record("\(path):\(line + 1): no declaration follows this doc comment: move it or write //")
            }
        }
    }

    @Test func anOrphanCommentIsFound() {
        let text = "/// a\nstruct A {\n    /// b\n\n    /// c\n    /// d\n    @Flag var e = 1\n    /// f\n}\n/// g"
        #expect(SourceFile.orphanComments(text.split(separator: "\n", omittingEmptySubsequences: false)) == [2, 7, 9])
    }

    @Test(arguments: commented)
    func commentsAreWrittenInPlainWords(folder: String) throws {
        let prose = try Prose(of: folder)
        let (starts, wrong) = (prose.lines.count(where: \.isStart), prose.wrongStarts)
        #expect(starts > 20, "\(folder): the comments were not found")
        #expect(
            wrong.count * 100 < starts,
            """
            \(wrong.count) of \(starts) comments in \(folder) do not start with a noun or a verb, less than 1 % may: \
            \(wrong.prefix(10).map { "\($0.place): \($0.text)" }.joined(separator: "; "))
            """)
        for (line, word) in prose.bannedWords {
            Issue.record("\(line.place): '\(word)' is not a word of this project: write '\(Prose.replaced[word]!)'")
        }
    }

    @Test func aWrongStartAndABannedWordAreFound() {
        let lines = [
            "What it holds.", "Those two.", nil, "Whatsoever: the guests' room, or `guest`.",
            "- Returns: what is left.",
            "- Throws: Who waits for the silent", "  commit.", "", "A Silent commit.",
        ]
        let prose = Prose(lines.map { $0.map { "    /// \($0)" } ?? "let a = 1  // Whose" }.joined(separator: "\n"))
        #expect(prose.wrongStarts.map(\.place) == ["text:1", "text:6"])
        #expect(prose.bannedWords.map(\.line.place) == ["text:4", "text:9"])
        #expect(Prose("# Of\n#!/bin/sh", mark: "#").wrongStarts.count == 1)
    }

    /// `make lint` checks the subjects of commits that are not on main yet.
    @Test func subjectsOfCommitsAreChecked() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("subjects-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let commit = "git -c user.name=n -c user.email=e commit -q --allow-empty -m"
        func run(_ command: String) throws -> (code: Int32, output: String) {
            let (process, pipe) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "exec 2>&1; \(command)"]
            process.currentDirectoryURL = folder
            process.standardOutput = pipe
            try process.run()
            let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, output)
        }
        let check = "'\(Module.root)/Tools/subjects.sh'"
        #expect(try run("git init -q && \(commit) 'An old subject'").code == 0)
        let skipped = try run(check)
        #expect(skipped.code == 0 && skipped.output.contains("not checked"), "\(skipped.output)")
        let mark = "git update-ref refs/remotes/origin/main HEAD"
        #expect(try run("\(mark) && \(commit) 'docs, tests: name — one'").code == 0)
        let good = try run(check)
        #expect(good.code == 0 && good.output.isEmpty, "\(good.output)")
        let long = "docs: " + String(repeating: "é", count: 66)
        #expect(try run("\(commit) '\(long)' && \(check)").code == 0)
        let bad = try run("\(commit) '\(long)é' && \(commit) 'Name one' && \(check)")
        #expect(bad.code == 1, "\(bad.output)")
        #expect(bad.output.contains("73 characters") && bad.output.contains("Name one"), "\(bad.output)")
    }

    /// SwiftPM refuses a graph in which two packages have targets of the same name.
    @Test func targetNamesCarryThePrefixOfAProduct() throws {
        let manifest = try String(contentsOfFile: "\(Module.root)/Package.swift", encoding: .utf8)
        let declared = #/\.(?:target|executableTarget|testTarget|systemLibrary|plugin)\(\s*name: "(\w[\w-]*)"/#
        let names = manifest.matches(of: declared).map(\.output.1)
        #expect(names.count > 50)
        let prefixes = ["StillingWell", "Tidegauge", "CStillingWell", "CTidegauge", "stillingwell-", "tidegauge"]
        // Libraries with established names of their own.
        let libraries = ["FetchedResults", "TypedNotifications"]
        for name in names where !(prefixes + libraries).contains(where: name.hasPrefix) {
            Issue.record("Package.swift: target \(name) has none of the prefixes \(prefixes.joined(separator: ", "))")
        }
    }
}
