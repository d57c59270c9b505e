// Tests of structure that keep a change small. The bounds may only be lowered.
import Foundation
import Testing

@Suite struct TidegaugeStructureTests {
    /// Maximum number of files in one reference cycle, by module. `others` is the maximum of all other modules.
    private static let circles = [
        "StillingWell": 10, "TidegaugeReport": 4,
    ]
    private static let others = 3

    @Test func filesDoNotHangTogetherInCircles() {
        for module in Module.all {
            let circle = module.largestCircle
            let most = Self.circles[module.name] ?? Self.others
            #expect(
                circle.count <= most,
                """
                \(module.name): \(circle.count) files name one another's types, at most \(most) may. Move what they share into a \
                file of its own: \(circle.joined(separator: ", "))
                """)
        }
        for module in [
            "StillingWell", "StillingWellTree", "TidegaugeTrial", "TidegaugeTrialRunner", "TidegaugeRun",
            "TidegaugeCLI",
        ] {
            #expect(Module.all.contains { $0.name == module }, "there is no Sources/\(module) any more")
        }
    }

    /// Folders of a module refer to each other in one direction, except for one pair, so that a room can be read
    /// without those above it.
    @Test func foldersReferInOneDirection() {
        let mutual = Module.all.flatMap(\.mutualFolders)
        #expect(mutual.count <= 1, "\(mutual.count): \(mutual.joined(separator: ", "))")
    }

    /// The engine gives handles and messages to the rest of the module (the face), and names no type of it.
    @Test func theEngineNamesNoTypeOfTheFace() throws {
        let files = try #require(Module.all.first { $0.name == "StillingWell" }).files
        let isOfEngine = { (file: SourceFile) in file.path.hasPrefix("Sources/StillingWell/Engine/") }
        let engine = files.filter(isOfEngine)
        let face = Set(files.filter { !isOfEngine($0) }.flatMap(\.types))
        #expect(engine.count > 100 && face.count > 100)
        for file in engine {
            let named = file.words.intersection(face)
            #expect(named.isEmpty, "\(file.path) names \(named.sorted().joined(separator: ", ")) of the face")
        }
    }

    @Test func aTypeNameMeansOneThing() {
        var modules: [String: Set<String>] = [:]
        for module in Module.all {
            for type in module.files.flatMap(\.types) { modules[type, default: []].insert(module.name) }
        }
        for (type, modules) in modules where modules.count > 1 {
            Issue.record("\(type) is a type of \(modules.sorted().joined(separator: " and of ")): rename one")
        }
    }

    /// Enums that grow with the benchmark or the query language, and the maximum number of switches over them with a
    /// `default:`, which would hide a new case. The switches are found by a text search.
    @Test(arguments: [
        ("FixedMetric", "Sources/TidegaugeSpec/Metric.swift", 0),
        ("Setting", "Sources/TidegaugeSpec/TrialSpec.swift", 0),
        ("FilterExpression", "Sources/StillingWell/Engine/Query/FilterExpression.swift", 0),
        ("Kind", "Sources/TidegaugeSpec/FaultSpec.swift", 0),
        ("Injection", "Sources/TidegaugeSpec/FaultSpec.swift", 0),
    ])
    func switchesNameEveryCase(_ name: String, _ path: String, _ most: Int) throws {
        let files = Module.all.flatMap(\.files)
        let cases = try #require(files.first { $0.path == path }?.cases(of: name), "\(path) has no enum \(name)")
        let open = SwitchStatement.all.filter {
            $0.hasDefault && !$0.labels.isEmpty && $0.labels.isSubset(of: cases)
        }
        #expect(
            open.count <= most,
            "\(open.count) switches over \(name) have a default: \(open.map(\.path).joined(separator: ", "))")
    }

    @Test func uncheckedSendabilityDoesNotSpread() {
        let places = Module.all.flatMap(\.files).flatMap { $0.places(of: "@unchecked Sendable") }
        #expect(places.count <= 54, "\(places.count): guard the state by a type, such as a mutex that owns it")
        for (file, line) in places {
            #expect(
                file.comment(before: line).contains("Unchecked because"),
                "\(file.path):\(line + 1): say in the comment before it 'Unchecked because …'")
        }
    }

    /// Each `nonisolated(unsafe)` has a comment before it, which must state the thread or lock that guards it. That the
    /// comment states it is not checked.
    @Test func unsafeStateSaysWhoseItIs() {
        for (file, line) in Module.all.flatMap(\.files).flatMap({ $0.places(of: "nonisolated(unsafe)") }) {
            // One comment may also explain the lines that follow it.
            let first = file.lines[..<line].lastIndex { !$0.contains("nonisolated(unsafe)") }.map { $0 + 1 } ?? 0
            #expect(
                !file.comment(before: first).isEmpty,
                "\(file.path):\(line + 1): say in a comment before it who touches it")
        }
    }

    /// `precondition` and `preconditionFailure` lose their text in an optimised build (StillingWellBasis/Stop.swift),
    /// and `assertionFailure` does nothing there.
    @Test(arguments: [
        "FetchedResults", "StillingWell", "StillingWellCombine", "StillingWellSync", "TypedNotifications",
    ])
    func stopTextsSurviveARelease(_ module: String) throws {
        let files = try #require(Module.all.first { $0.name == module }).files
        for call in ["precondition(", "preconditionFailure(", "assertionFailure("] {
            for (file, line) in files.flatMap({ $0.places(of: call) }) {
                Issue.record("\(file.path):\(line + 1): \(call)…) loses its text: use stopProgram or stopUnless")
            }
        }
    }

    /// Programs that are started while a store or a trial is open inherit no descriptor of it.
    @Test func descriptorsAreClosedOnExec() {
        let files = Module.all.flatMap(\.files)
        for call in ["mkstemp(", " pipe(&", " accept(descriptor", "fopen(", "FileHandle(for"] {
            for (file, line) in files.flatMap({ $0.places(of: call) }) where !file.lines[line].contains("\"re\"") {
                Issue.record(
                    """
                    \(file.path):\(line + 1): \(call)…) leaves out O_CLOEXEC: use open, cp_pipe, cp_accept or \
                    FileHandle(closedOnExec:)
                    """)
            }
        }
        for call in [" open(", " openat(", ".socket("] {
            for (file, line) in files.flatMap({ $0.places(of: call) }) {
                // Flags may be put together before the call.
                let code = file.lines[max(0, line - 4)...line].joined(separator: "\n")
                guard code.contains("O_R") || code.contains("O_W") || code.contains("SOCK_") else { continue }
                #expect(code.contains("CLOEXEC"), "\(file.path):\(line + 1): open it with O_CLOEXEC or SOCK_CLOEXEC")
            }
        }
    }

    /// The calls of `FileHandle` that throw nothing end the process instead, as on a closed descriptor or a full disk.
    @Test func fileHandlesAreUsedByCallsThatThrow() {
        let calls = [
            "FileHandle.standardError.write(D", "FileHandle.standardOutput.write(D", "readDataToEndOfFile()",
            ".availableData",
            ".seekToEndOfFile()", ".synchronizeFile()", ".closeFile()",
        ]
        for call in calls {
            for (file, line) in Module.all.flatMap(\.files).flatMap({ $0.places(of: call) }) {
                Issue.record("\(file.path):\(line + 1): \(call) traps: use StandardStream, or the call that throws")
            }
        }
    }

    /// `Trial.measure` is short and names no fault, because everything beside the load is a `Companion`.
    @Test func aTrialIsAStory() throws {
        let file = try #require(
            Module.all.flatMap(\.files).first { $0.path == "Sources/TidegaugeTrialRunner/Conduct/Trial.swift" })
        let start = try #require(file.lines.firstIndex { $0.contains("func measure()") })
        let end = try #require(file.lines[start...].firstIndex { $0 == "    }" })
        #expect(end - start + 1 <= 40, "Trial.measure has \(end - start + 1) lines")
        #expect(!file.lines[start...end].contains { $0.contains("fault") || $0.contains("Fault") })
    }

    /// Each change of a line that a patch touches costs a change of the patch.
    @Test func faultPatchesAreFewAndOneOrTwoForEachClassOfClaims() throws {
        let folder = "\(Module.root)/Tests/Faults"
        let patches = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".patch") }
        #expect(patches.count <= 90, "\(patches.count) patches: keep one or two for each class of claims")
        let headers = try patches.map {
            try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8).prefix { $0 != "@" }
        }
        for (patch, header) in zip(patches, headers) where !header.contains("# class: ") {
            Issue.record("\(patch) has no line '# class: …'")
        }
        #expect(headers.count { $0.contains("# gate: yes") } <= 10, ".ci/run runs at most ten patches")
    }

    @Test func aCircleIsFound() {
        let files = ["A": "B", "B": "C", "C": "A", "D": "A"].map { name, other in
            SourceFile(path: name, text: "struct \(name) {}\n// E\nlet x = \(other)()\n")
        }
        #expect(Module(name: "m", files: files).largestCircle == ["A", "B", "C"])
    }

    @Test func aDefaultIsFound() throws {
        let file = SourceFile(
            path: "f",
            text: """
                enum Kind { // no case
                    case a, b(Int)
                    case c = "x"
                    var n: Int {
                        switch self {
                        case .a: 1
                        default: { 2 }()
                        }
                    }
                }
                """)
        #expect(file.cases(of: "Kind") == ["a", "b", "c"])
        let found = try #require(SwitchStatement.all(in: file).first)
        #expect(found.labels == ["a"] && found.hasDefault)
    }
}
