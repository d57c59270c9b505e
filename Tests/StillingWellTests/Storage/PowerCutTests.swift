// Tests of disk images after a power cut. `make powercut IMAGES=10000` opens the given number.
import Foundation
import StillingWellTestThreads
import Testing

@Suite("Power cuts", .serialized, .onThreads)
struct PowerCutTests {
    /// Each image has all flushed writes, and a random part of the later ones.
    @Test("every image opens whole, at or after the last commit that had to survive", arguments: ["full", "relaxed"])
    func images(_ durability: String) throws {
        let images = repetitions(250, atEveryCommit: 60)
        let arguments = [
            "--durability", durability, "--images", "\(images)", "--commits", "20", "--seed", "17",
        ]
        let run = try FixtureProcess("stillingwell-torture", ["power-cut"] + arguments)
        try run.waitForEnd()
        run.waitUntilReaped()
        #expect(
            run.output.value.lines.last == "seed 17: \(images) images, \(durability): \(images) whole",
            "\(run.output.value.lines)")
    }

    @Test(
        "the store opens whole after a power cut, wherever a process was killed before",
        arguments: [("killed-at-mark", "relaxed"), ("killed-at-names", "full")])
    func killed(_ script: String, _ durability: String) throws {
        let images = repetitions(60, atEveryCommit: 20)
        let arguments = ["--script", script, "--durability", durability]
        #expect(
            try lines(arguments + ["--images", "\(images)", "--commits", "6", "--seed", "1"]) == [
                "seed 1: \(images) images, \(durability): \(images) whole"
            ])
    }

    @Test(
        "a failed flush is an error of all its waiters, and the store continues from the last good one",
        arguments: ["full", "relaxed"])
    func failedFlush(_ durability: String) throws {
        #expect(
            try lines(["failed-flush", "--durability", durability]) == [
                "told 4", "refused", "closed with an error", "opened at 1", "goes on to 2",
            ])
    }

    @Test("a process that waits for the flush of a killed process has it made by another one")
    func killedFlush() throws {
        #expect(try lines(["killed-flush"]) == ["the waiter ended with 0", "opened at 3"])
    }

    @Test(
        "a store that another process has open is filled to its limit, and emptied, whatever is kept for the last flush"
    )
    func fullMap() throws { #expect(try lines(["full-map"]) == ["full, emptied, and filled by half"]) }

    private func lines(_ arguments: [String]) throws -> [String] {
        let run = try FixtureProcess("stillingwell-torture", ["power-cut"] + arguments)
        try run.waitForEnd()
        run.waitUntilReaped()
        return run.output.value.lines
    }
}
