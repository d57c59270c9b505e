// Programs that say more than a pipe holds, or nothing, or end badly.
import Foundation
import Testing

@testable import Measure

@Suite struct OtherProgramTests {
    private func shell(_ line: String, input: String = "") throws -> OtherProgram {
        try OtherProgram.run("/bin/sh", ["-c", line], input: input)
    }

    /// A pipe takes 64 KiB before its writer waits.
    @Test(arguments: [1, 2])
    func whatFillsEitherPipeHangsNobody(_ descriptor: Int) throws {
        let line = "head -c 3000000 /dev/zero | tr '\\0' x >&\(descriptor); echo end >&\(3 - descriptor); exit 3"
        let ran = try shell(line)
        #expect((descriptor == 1 ? ran.output : ran.errors).count == 3_000_000)
        #expect((descriptor == 1 ? ran.errors : ran.output) == Data("end\n".utf8))
        #expect(ran.status == 3 && !ran.endedBySignal && !ran.succeeded)
    }

    @Test func bothAreReadInTurns() throws {
        let ran = try shell("for i in $(seq 2000); do echo out $i; echo error $i >&2; done")
        #expect(ran.output.split(separator: UInt8(ascii: "\n")).count == 2_000)
        #expect(ran.errors.split(separator: UInt8(ascii: "\n")).count == 2_000)
        #expect(ran.succeeded)
    }

    @Test func itIsGivenItsInputFolderAndEnvironment() throws {
        let folder = try PrivateFolder()
        let ran = try OtherProgram.run(
            "/bin/sh", ["-c", "cat; pwd; echo $WORD"], in: folder.path, environment: ["WORD": "seen"], input: "in\n")
        #expect(String(decoding: ran.output, as: UTF8.self) == "in\n\(folder.path)\nseen\n")
        #expect(try shell("exit 0", input: "nobody reads this").succeeded)
    }

    @Test func aSignalIsNoStatus() throws {
        let ran = try shell("kill -9 $$")
        #expect(ran.endedBySignal && ran.status == 9 && !ran.succeeded)
    }

    @Test func whatIsNotThereThrows() {
        #expect(throws: (any Error).self) { try OtherProgram.run("/no/such/program", []) }
    }
}
