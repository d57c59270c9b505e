// Tests of traces.
import Foundation
import StillingWellBasis
import Testing

@testable import TidegaugeScenario
@testable import TidegaugeSpec

@Suite struct TraceTests {
    private let text = """
        purpose: How long does it take?
        represents: a complaint
        dataset: { items: 1_000 }
        writers: { arrivals: trace, trace: due.txt }
        measure: [delivery_latency, missed_final]
        gate: delivery_latency
        warm_up: 100ms
        duration: 1s
        """

    private func scenario(_ trace: String?, _ text: String? = nil) throws(ScenarioErrors) -> Scenario {
        let files = NamedFiles(beside: { name, _ in
            (name == "due.txt" ? trace : nil).map { .found(Array($0.utf8)) } ?? .missing
        })
        return try Scenario.parse(
            Array((text ?? self.text).utf8), path: "test.yaml", drivers: testDrivers, files: files)
    }

    private func complaint(_ trace: String?) -> String? {
        do throws(ScenarioErrors) {
            _ = try scenario(trace)
            return nil
        } catch {
            return error.problems.map(\.description).joined(separator: "|")
        }
    }

    @Test func timesAreSecondsFromTheStartOfTheWarmUp() throws {
        let scenario = try scenario("# recorded\n0\n0.000001\n\n0.5\r\n0.5\n1e0\n")
        let spec = try scenario.trials(profile: .ci, drivers: ["stillingwell"])[0]
        #expect(spec.writers.traceNs == [0, 1_000, 500_000_000, 500_000_000, 1_000_000_000])
        #expect(spec.writers.arrivals == .trace)
    }

    @Test func theTraceIsPartOfTheQuestion() throws {
        let (one, same, other) = (try scenario("0.2"), try scenario("0.2"), try scenario("0.3"))
        #expect(one.sha256 == same.sha256 && one.sha256 != other.sha256)
        #expect(one.sha256 != SHA256.hexadecimal(Array(text.utf8)))
    }

    @Test(arguments: [
        (nil, "names 'due.txt', and there is no such file"), ("", "holds no due time"),
        ("# nothing\n", "holds no due time"), ("0\n1x\n", "has in line 2 '1x', which is no number of seconds"),
        ("0.2\n0.1\n", "has in line 2 a time before the one above it"),
        ("-1\n", "has in line 1 the time -1, which is not within a day"), ("90000\n", "not within a day"),
        ("nan\n", "which is no number"), ("0.05\n", "ends after 50ms, before 'warm_up' does"),
    ])
    func isRefused(trace: String?, words: String) throws {
        let said = try #require(complaint(trace))
        #expect(said.contains(words), "\(said)")
    }

    @Test func anOptionCannotNameOne() throws {
        let scenario = try scenario("0.2")
        #expect(throws: ScenarioErrors.self) {
            try scenario.trials(profile: .ci, drivers: ["stillingwell"], overrides: ["writers.trace": "other.txt"])
        }
    }

    @Test(
        "A trace that is there and cannot be read is not called missing",
        arguments: [("/proc/self/mem", "the file cannot be read"), ("/dev", "this is no regular file; a trace is")])
    func unreadable(target: String, words: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("traces-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("one.yaml")
        try Data(text.utf8).write(to: file)
        // Reading the first page of a process's own memory fails, for root too.
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent("due.txt").path, withDestinationPath: target)
        do throws(ScenarioErrors) {
            _ = try ScenarioLibrary(drivers: testDrivers).load([file.path])
            Issue.record("it was read")
        } catch {
            let said = error.problems.map(\.description).joined(separator: "|")
            #expect(
                said.contains("names 'due.txt' beside the scenario: \(words)") && !said.contains("no such"), "\(said)")
        }
    }

    @Test func theLibraryLooksBesideTheFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("traces-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appendingPathComponent("one.yaml"))
        #expect(throws: ScenarioErrors.self) {
            try ScenarioLibrary(drivers: testDrivers).load([folder.path])
        }
        try Data("0.2\n".utf8).write(to: folder.appendingPathComponent("due.txt"))
        #expect(try ScenarioLibrary(drivers: testDrivers).load([folder.path])[0].traces["due.txt"]?.dueNs.count == 1)
    }
}

@Suite struct WorkloadTraceTests {
    private let trace = """
        # made by hand
        0 holds Todo 3
        0 holds List 1
        0.001 subscribe 1 Todo filter=isDone sort=-title
        0.002 found 1 2
        0.002 found 1 1
        0.01 subscribe 2 List
        0.01 subscribe 4 Empty
        0.01 found 4 0
        0.1 commit 3
         insert Todo aa
         update List 01 todos
         update Todo bb isDone,title
        0.15 subscribe 3 Todo limit=2
        0.2 drop 2
        0.2 drop 4
        0.25 found 3 4
        0.3 commit 2
         delete Todo aa
         update Todo bb notes
        0.4 drop 1
        0.5 end
        """

    private func read(_ text: String) throws(ValueFault) -> Trace { try Trace(Array(text.utf8)) }

    @Test func aWorkloadIsItsCommitsAndItsQueries() throws {
        typealias Operation = WorkloadSpec.Operation
        let trace = try read(trace)
        #expect(trace.dueNs == [100_000_000, 300_000_000] && trace.endNs == 500_000_000)
        let workload = try #require(trace.workload)
        #expect(workload.rows == [3, 1, 0])
        // 'title' is the sort key of query 1. No query uses 'notes' or 'todos'.
        #expect(
            workload.commits == [
                [
                    Operation(kind: .insert, table: 0, row: 4), Operation(kind: .touch, table: 1, row: 3),
                    Operation(kind: .move, table: 0, row: 0),
                ],
                [Operation(kind: .delete, table: 0, row: 4), Operation(kind: .touch, table: 0, row: 0)],
            ])
        #expect(
            workload.lasting == [
                .init(table: 0, share: 2.0 / 3, order: .descending, fromNs: 1_000_000, untilNs: 400_000_000)
            ])
        #expect(
            workload.passing == [
                .init(table: 1, share: 0.5, fromNs: 10_000_000, untilNs: 200_000_000),
                // For a table without rows, the share that a query finds is unknown, and taken to be a half.
                .init(table: 2, share: 0.5, fromNs: 10_000_000, untilNs: 200_000_000),
                .init(table: 0, share: 1, fromNs: 150_000_000, untilNs: nil),
            ])
    }

    @Test func rowsThatNobodyInsertedWereThere() throws {
        let trace = try read(
            "0.1 commit 2\n update Todo a x\n update Todo b x\n0.2 commit 1\n insert Todo c\n0.3 end\n")
        let workload = try #require(trace.workload)
        #expect(workload.rows == [2] && workload.commits.map { $0.map(\.row) } == [[0, 1], [2]])
    }

    @Test func whereverItIsCutTheErrorSaysSo() throws {
        let lines = trace.split(separator: "\n")
        for count in 1..<lines.count where lines[count - 1].first != "#" {
            let cut = lines[..<count].joined(separator: "\n")
            let error = try #require(throws: ValueFault.self) { try read(cut) }
            #expect(error.message.contains("line") && error.message.contains("cut off"), "\(count): \(error.message)")
        }
        #expect(throws: Never.self) { try read(trace) }
    }

    @Test(arguments: [
        ("0 commit 1\n remove Todo a\n0 end", "has in line 2 'remove Todo a', which is no operation (insert"),
        ("0 commit 1\n insert Todo\n0 end", "has in line 2 'insert Todo', which is no operation"),
        ("0 commit 1\n insert Todo a\n insert Todo b\n0 end", "has in line 3 an operation outside of a commit"),
        ("0 commit 0\n0 end", "has in line 1 a commit without operations"),
        ("0 commit many\n0 end", "has in line 1 'many' in place of a number of operations"),
        ("0 committed\n0 end", "has in line 1 'committed', which is nothing that a trace says (holds TABLE ROWS"),
        ("0 drop 3\n0 end", "has in line 1 query 3, which is not observed there"),
        ("0 subscribe 1 Todo\n0 subscribe 1 Todo\n0 end", "has in line 2 a second query 1"),
        ("0 subscribe 1 Todo order=a\n0 end", "has in line 1 'order=a', which a query has not"),
        ("0 subscribe 1 Todo =\n0 end", "has in line 1 '=', which a query has not"),
        ("0.2 commit 1\n insert Todo a\n0.1 end", "has in line 3 a time before the one above it"),
        ("0 commit 2\n insert Todo a\n insert Todo a\n0 end", "has in line 3 row a of Todo inserted, which exists"),
        ("0 commit 2\n delete Todo a\n update Todo a x\n0 end", "has in line 3 row a of Todo, which has been deleted"),
        ("0 commit 1\n insert Todo a\n0 end\n1 end", "has in line 4 a line after 'end'"),
        (
            "0 commit 1\n insert Todo a\n0.5\n1 end",
            "has in line 3 a time without an operation, although other lines have one"
        ),
        ("0.1\n0.2 end", "has in line 2 'end' after lines with a time only"),
        ("0 commit 1\n insert Todo a\n1 holds Todo 3\n1 end", "has in line 3 'holds' after the first commit"),
    ])
    func whatIsWrongIsNamedWithItsLine(_ text: String, _ words: String) throws {
        let error = try #require(throws: ValueFault.self) { try read(text) }
        #expect(error.message.contains(words), "\(error.message)")
    }

    private func scenario(_ more: String = "", threads: Int = 1) throws(ScenarioErrors) -> Scenario {
        let text = """
            purpose: How long does it take?
            dataset: { items: 10 }
            writers: { arrivals: trace, trace: due.txt, threads: \(threads) }
            measure: [delivery_latency, missed_final]
            duration: 1s
            warm_up: 0s
            """
        let files = NamedFiles(beside: { _, _ in .found(Array((trace + more).utf8)) })
        return try Scenario.parse(Array(text.utf8), path: "test.yaml", drivers: testDrivers, files: files)
    }

    @Test func aTrialDoesWhatTheTraceSays() throws {
        let spec = try scenario().trials(profile: .ci, drivers: ["stillingwell"])[0]
        #expect(spec.workload?.commits.count == 2 && spec.observers.count == 1 && spec.writers.rowsPerCommit == 3)
        #expect(spec.writers.traceNs == [100_000_000, 300_000_000])
    }

    @Test func whatDoesNotGoWithATraceIsRefused() throws {
        let threads = try #require(throws: ScenarioErrors.self) { try scenario(threads: 2) }
        #expect("\(threads)".contains("make 'writers.threads' 1"))
        let fitting = try scenario()
        let items = try #require(throws: ScenarioErrors.self) {
            try fitting.trials(profile: .ci, drivers: ["stillingwell"], overrides: ["dataset.items": "3"])
        }
        #expect("\(items)".contains("begins with 4 rows, and 'dataset.items' is 3 (make it 4 or more)"))
    }
}
