// Tests of `run --trace-file`, which replaces the traces of scenarios by a recorded one.
import Foundation
import Testing

@Suite struct TraceFileTests {
    private func run(_ trace: String?, _ arguments: [String], in folder: Folder) throws -> Ran {
        if let trace { try folder.write("mine.txt", Data(trace.utf8)) }
        return try Binary.tidegauge.run(["run"] + arguments + ["--trace-file", "mine.txt", "--quiet"], in: folder)
    }

    @Test func itIsPlayedBackToTheEngineThatIsNamed() throws {
        let trace = """
            0 subscribe 1 Note sort=-stars
            0.150 commit 2
             insert Note a
             insert Note b
            0.200 subscribe 2 Note filter=stars
            0.250 commit 1
             update Note a stars
            0.300 drop 2
            0.350 end
            """
        let folder = try Folder()
        let ran = try run(trace, ["--profile", "smoke", "--driver", "stillingwell"], in: folder)
        #expect(ran.status == 0, "\(ran.output) \(ran.errors)")
        // Both commits are played, and the query that is dropped before the end.
        let journal = folder.read("Reports/latest/journal.ndjson")
        #expect(journal.contains(#""traceNs":[150000000,250000000]"#) && journal.contains(#""passing_queries":1"#))
    }

    @Test(
        arguments: [
            (nil, [], 64, "'mine.txt' cannot be read"),
            ("0.1\n", ["commit-latency"], 64, "'commit-latency' uses no trace"),
            (
                "0 commit 2\n insert Note a\n", [], 65,
                "mine.txt: the trace has in line 1 a commit of 2 operations, and only 1"
            ),
            ("0 commit 1\n insert Note a\n", [], 65, "mine.txt: the trace stops in line 2 without 'end'"),
        ] as [(String?, [String], Int32, String)])
    func whatCannotBePlayedBackIsRefused(_ trace: String?, _ paths: [String], _ status: Int32, _ words: String) throws {
        let folder = try Folder()
        let ran = try run(trace, paths, in: folder)
        #expect(ran.status == status && ran.errors.contains(words), "\(ran.errors)")
        #expect(!folder.exists("Reports"), "something was run")
    }
}
