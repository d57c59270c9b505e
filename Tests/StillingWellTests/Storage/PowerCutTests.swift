// Images of a disk after a power cut: a hundred at every commit, several hundred at night. `make powercut IMAGES=10000` opens as
// many as asked for.
import Foundation
import StillingWellTestThreads
import Testing

@Suite("Power cuts", .serialized, .onThreads)
struct PowerCutTests {
    /// Everything that was flushed is there, and of what came later any part: whole writes, pages, sectors, in any order.
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

    /// Each image of short recordings: the power goes at any step after the death of the process.
    @Test(
        "whatever a process leaves half said when it is killed, the store opens whole after a power cut",
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
        "a flush that fails is told to all who wait, and the store goes on from the last one that did not",
        arguments: ["full", "relaxed"])
    func failedFlush(_ durability: String) throws {
        #expect(
            try lines(["failed-flush", "--durability", durability]) == [
                "told 4", "refused", "closed with an error", "opened at 1", "goes on to 2",
            ])
    }

    @Test("who waits for a flush by a process that is killed has it made by another one")
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
