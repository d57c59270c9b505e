// Short runs of the stress test, and its refusals. `make stress` is the long run.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads) struct StressTests {
    private func run(_ arguments: [String]) throws -> RanProgram {
        try RanProgram("stillingwell-torture", ["stress"] + arguments)
    }

    /// One seed has the store on a disk, the other in memory. The minimum number of callbacks makes it likely that a
    /// fault that occurs in one of 10,000 callbacks is seen, even on a busy machine.
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
