// Tests of the floor plan of CONTRIBUTING.md, of promises that replace checks of the compiler, of comments and of target names.
import Foundation
import Testing

@Suite struct TidyTests {
    private static let plan = FloorPlan.ofContributing

    /// Folders that name types of each other and stay so: an object belongs to a connection, and a connection makes objects.
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

    /// The sum over all kinds, so that no kind can shrink at the cost of another.
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
    @Test func docCommentsDocumentADeclaration() {
        for file in Module.all.flatMap(\.files) {
            for line in file.orphanComments {
                Issue.record("\(file.path):\(line + 1): no declaration follows this doc comment: move it or write //")
            }
        }
    }

    @Test func anOrphanCommentIsFound() {
        let text = "/// a\nstruct A {\n    /// b\n\n    /// c\n    /// d\n    @Flag var e = 1\n    /// f\n}\n/// g"
        #expect(SourceFile(path: "f", text: text).orphanComments == [2, 7, 9])
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
