// Short runs of the stress test, so that it cannot rot, and what it refuses. `make stress` is the long one.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads) struct StressTests {
    private func run(_ arguments: [String]) throws -> RanProgram {
        try RanProgram("stillingwell-torture", ["stress"] + arguments)
    }

    /// One of the seeds has the store on a disk, the other in memory.
    /// The callbacks make faults that show in one of 10 000 show here, also where the machine is busy.
    @Test("every invariant holds for three seconds", arguments: [2, 3])
    func shortRun(seed: Int) throws {
        let ran = try run(["--seconds", "3", "--callbacks", "16000", "--seed", "\(seed)"])
        #expect(ran.status == 0, "\(ran.output)\n\(ran.errors)")
        #expect(ran.output.contains("\nviolations    0"), "\(ran.output)")
        #expect(ran.output.hasPrefix("seed \(seed): 3 s, "), "\(ran.output)")
    }

    @Test("the same seed decides the same load, in another process too, and another seed another one")
    func replay() throws {
        let first = try run(["plan", "--seed", "7"])
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.contains("\nboard ") && first.output.contains("\nsite 1, observer 1: "))
        try #expect(run(["plan", "--seed", "7"]).output == first.output)
        try #expect(run(["plan", "--seed", "8"]).output != first.output)
    }

    @Test("the file grows by no kilobyte per commit while a version is held, whatever the commits do")
    func pinnedCommits() throws {
        let ran = try run(["pin", "--seed", "1", "--commits", "1000"])
        #expect(ran.status == 0, "\(ran.output)\n\(ran.errors)")
        let bytes = ran.output.split(separator: "\n").compactMap { line in
            line.split(whereSeparator: { !$0.isNumber }).last.flatMap { Int($0) }
        }
        try #require(bytes.count == 4, "\(ran.output)")
        #expect(bytes[..<3].allSatisfy { $0 <= 1_024 } && bytes[3] == 1_024, "\(ran.output)")
    }

    /// One of each has ended the process: a write that left the engine amid a change, and a table made in a damaged tree. A table that is
    /// not found is refused by now (`DamagedPagesTests/table`), and none of these comes there any more: no fault alone turns this red.
    @Test("damaged stores end nothing but themselves", arguments: [(1, 400), (3, 2_900)])
    func neighbours(seed: Int, first: Int) throws {
        let count = repetitions(60, atEveryCommit: 20)
        let ran = try run(["neighbours", "--seed", "\(seed)", "--first", "\(first)", "--count", "\(count)"])
        #expect(ran.status == 0, "\(ran.output)\n\(ran.errors)")
        #expect(ran.output.hasPrefix("\(count) neighbours, "), "\(ran.output)")
    }

    @Test(
        "bad arguments are refused with what to give instead, and nothing is run",
        arguments: [
            (["--seconds", "0"], "--seconds 60"), (["--seconds", "x"], "--seconds"), (["--seed", "-1"], "--seed"),
            (["--durability", "full"], "relaxed or memory"), (["--folder", "/"], "is not empty"),
            (["--sedd", "1"], "--sedd"),
        ])
    func refused(arguments: [String], remedy: String) throws {
        let ran = try run(arguments)
        #expect(ran.status == 64)
        #expect(ran.errors.contains(remedy), "\(ran.errors)")
        #expect(ran.output.isEmpty)
    }
}
