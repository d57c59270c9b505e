// What a power cut may leave, in a few hundred images; `make powercut IMAGES=10000` opens as many as asked for.
import Foundation
import TestThreads
import Testing

@Suite("Power cuts", .serialized, .onThreads)
struct PowerCutTests {
    /// Everything that was flushed is there, and of what came later any part: whole writes, pages, sectors, in any order.
    @Test("every image opens whole, at or after the last commit that had to survive", arguments: ["full"])
    func images(_ durability: String) throws {
        let arguments = ["--durability", durability, "--images", "250", "--commits", "20", "--seed", "17"]
        let run = try FixtureProcess("livestore-powercut", arguments)
        try run.waitForEnd()
        run.waitUntilReaped()
        #expect(
            run.output.value.lines.last == "seed 17: 250 images, \(durability): 250 whole", "\(run.output.value.lines)")
    }
}
