// Tests of programs that this process starts.
import Foundation
import Testing
import TidegaugeDriver

@testable import TidegaugeMeasure

@Suite struct SubprocessTests {
    private func shell(_ line: String, input: String = "", mostBytes: Int = 1 << 26) throws -> CompletedProcess {
        try Subprocess.run("/bin/sh", ["-c", line], input: input, mostBytes: mostBytes)
    }

    /// A pipe holds 64 KiB before its writer blocks.
    @Test(arguments: [1, 2])
    func whatFillsEitherPipeHangsNobody(_ descriptor: Int) throws {
        let line = "head -c 3000000 /dev/zero | tr '\\0' x >&\(descriptor); echo end >&\(3 - descriptor); exit 3"
        let ran = try shell(line)
        #expect((descriptor == 1 ? ran.output : ran.errors).count == 3_000_000)
        #expect((descriptor == 1 ? ran.errors : ran.output) == Data("end\n".utf8))
        #expect(ran.exit == .status(3) && !ran.isSuccess && ran.droppedBytes == 0)
    }

    /// Input, output and errors are each larger than a pipe.
    @Test func aProgramThatFillsAllItsPipesHangsNobody() throws {
        let input = String(repeating: "a line of the input\n", count: 50_000)
        let ran = try shell("tee /dev/stderr", input: input)
        #expect(ran.isSuccess && ran.output == Data(input.utf8) && ran.errors == Data(input.utf8))
    }

    @Test func bothAreReadInTurns() throws {
        let ran = try shell("for i in $(seq 2000); do echo out $i; echo error $i >&2; done")
        #expect(ran.output.split(separator: UInt8(ascii: "\n")).count == 2_000)
        #expect(ran.errors.split(separator: UInt8(ascii: "\n")).count == 2_000)
        #expect(ran.isSuccess)
    }

    @Test func whatIsDroppedIsCounted() throws {
        let ran = try shell("head -c 100000 /dev/zero; printf abc >&2", mostBytes: 10)
        #expect(ran.output.count == 10 && ran.droppedBytes == 99_990 && ran.errors == Data("abc".utf8))
        #expect(ran.isSuccess)
    }

    @Test func itIsGivenItsInputFolderAndEnvironment() throws {
        let folder = try PrivateFolder()
        let ran = try Subprocess.run(
            "/bin/sh", ["-c", "cat; pwd; echo $WORD"], in: folder.path, environment: ["WORD": "seen"], input: "in\n")
        #expect(String(decoding: ran.output, as: UTF8.self) == "in\n\(folder.path)\nseen\n")
    }

    @Test func inputThatNobodyReadsIsNoError() throws {
        #expect(try shell("exit 0", input: String(repeating: "x", count: 1 << 20)).isSuccess)
    }

    @Test func aSignalIsNoStatus() throws {
        let ran = try shell("kill -9 $$")
        #expect(ran.exit == .signal(9) && !ran.isSuccess)
    }

    @Test func whatIsNotThereThrows() {
        #expect(throws: Subprocess.CannotStart.self) { try Subprocess.run("/no/such/program") }
        #expect(throws: Subprocess.CannotStart.self) { try Subprocess.run("/bin/true", in: "/no/such/folder") }
    }

    /// The program is killed with its children, because a child that holds a pipe open would delay the end.
    @Test func aProgramThatDoesNotEndIsKilled() throws {
        let ran = try Subprocess.run("/bin/sh", ["-c", "echo begun; sleep 1000 & wait"], timeoutNs: 200_000_000)
        #expect(ran.hasTimedOut && ran.exit == .signal(SIGKILL) && !ran.isSuccess)
    }

    @Test func whatItLeavesBehindIsNotWaitedFor() throws {
        let ran = try shell("setsid sleep 1000 & echo $!; exit 0")
        #expect(ran.isSuccess)
        let left = try #require(pid_t(String(decoding: ran.output, as: UTF8.self).split(separator: "\n")[0]))
        kill(left, SIGKILL)
    }

    /// Signals that this process ignores, as a run does with SIGINT, still end the child.
    @Test func ignoredSignalsAreNotInherited() throws {
        signal(SIGUSR1, SIG_IGN)
        defer { signal(SIGUSR1, SIG_DFL) }
        #expect(try shell("kill -USR1 $$; exit 0").exit == .signal(SIGUSR1))
    }

    @Test func filesTakeWhatIsSaid() throws {
        let folder = try PrivateFolder()
        let log = "\(folder.path)/log"
        let ran = try Subprocess.run(
            "/bin/sh", ["-c", "echo out; echo error >&2"], output: .file(log), errors: .file(log))
        #expect(ran.isSuccess && ran.output.isEmpty && ran.errors.isEmpty)
        #expect(try String(contentsOfFile: log, encoding: .utf8) == "out\nerror\n")
    }

    @Test func aConversation() throws {
        let child = try Subprocess("/bin/cat", keepsInputOpen: true)
        var splitter = LineSplitter()
        for word in ["one", "two"] {
            child.write(Data("\(word)\n".utf8))
            var lines: [[UInt8]] = []
            while lines.isEmpty { child.advance { lines += splitter.add($1) } }
            #expect(lines == [Array(word.utf8)])
        }
        child.kill()
        #expect(child.exit == .signal(SIGKILL))
    }

    @Test func linesComeInPiecesOfAnyLength() {
        var splitter = LineSplitter()
        var lines: [String] = []
        for piece in ["a", "b\n", "c\n\nd", "", "\n"] {
            let found = Array(piece.utf8).withUnsafeBufferPointer { splitter.add($0) }
            lines += found.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(lines == ["ab", "c", "", "d"])
    }
}
