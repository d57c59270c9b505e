// Fuzzes callgrind's output of a counted trial.
import Foundation
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing
import TidegaugeMeasure

@testable import TidegaugeProfiles
@testable import TidegaugeReport
@testable import TidegaugeRun

@Suite("Fuzzing profiles", .serialized, .onThreads)
struct ProfileFuzzTests {
    /// Two parts as callgrind writes them. In the second a function calls `malloc` and itself.
    private static let good = """
        # callgrind format
        version: 1
        creator: callgrind-3.19.0
        pid: 4711
        cmd:  ./program a=b c: d
        part: 1
        thread: 1

        desc: Trigger: Client Request: roles
        positions: line
        events: Ir sysCount sysTime
        ob=(1) /bin/program
        fl=(1) main.c
        fn=(1) tidegauge_role_0
        1 1
        totals: 1

        part: 2
        thread: 1
        desc: Trigger: Client Request: commits
        events: Ir sysCount sysTime
        fn=(2) $s1A1BV1cyyF'main
        fi=(2) inlined.h
        16 110 1 5
        cob=(1)
        cfn=(3) malloc'main
        calls=2 0
        * 90
        cfn=(4) $s1A1BV1cyyF'2'main
        calls=1 +10
        -8 40
        fn=(3)
        +1 90
        fn=(4)
        * 40
        jump=4 +3
        +1
        fn=(5) swift_retain'main
        0x10 2
        totals: 242 1 5

        """
    private static let words = [
        "fn=(1)", "cfn=(2)", "calls=1 0", "totals: 0", "totals:", "events: Ir", "positions: instr line", "part: 1",
        "\n", "'", "'2", "(1)", "+", "-", "*", "0x", "9223372036854775807", "18446744073709551615", "$s", "\"", "<",
        "(",
    ]

    @Test("callgrind: a file makes counts and profiles, or is refused with its line", arguments: seeds(1))
    func callgrind(_ seed: UInt64) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/tidegauge-fuzz-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/\(Callgrind.fileName).1-01"
        let base = try #require(try CallgrindFile.parts(Array(Self.good.utf8), path: path).map { CallProfile($0) }.last)
        var fuzzer = try Fuzzer("callgrind", seed: seed, words: Self.words, good: [Array(Self.good.utf8)])
        try fuzzer.run(500) { bytes -> String in
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let counts: CallgrindChild.Counts
            do {
                counts = try CallgrindChild.counts(in: folder)
            } catch let error as CallgrindError {
                #expect(error.path == path && !error.message.isEmpty)
                return kind(
                    of: error.message.prefix(
                        upTo: error.message.firstRange(of: ", found")?.lowerBound ?? error.message.endIndex))
            } catch let error as CallgrindChild.Failure {
                return kind(of: error)
            }
            for profile in counts.profiles.values {
                let kept = try JSONDecoder().decode(CallProfile.self, from: JSONEncoder().encode(profile))
                #expect(kept.functions == profile.functions, "TIDEGAUGE_SEED=\(seed)")
                let difference = ProfileDifference(base: base, head: kept.perOperation(3))
                _ = difference.culprits
                _ = difference.paths(most: 5)
                _ = FlameGraph.svg(difference, title: "a", operation: "commit")
            }
            let roles = counts.inCommits.keys.sorted() + counts.atRest.keys.sorted()
            return "\(roles) \(counts.profiles.values.map { min($0.functions.count, 8) })"
        }
    }
}
