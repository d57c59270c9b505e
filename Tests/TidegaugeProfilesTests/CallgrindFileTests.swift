import Foundation
import StillingWellSeededRandom
import Testing

@testable import TidegaugeProfiles

@Suite("Callgrind's format")
struct CallgrindFileTests {
    private func parts(_ text: String) throws(CallgrindError) -> [CallgrindPart] {
        try CallgrindFile.parts(Array(text.utf8), path: "out-03")
    }

    private func failure(_ text: String) -> CallgrindError? {
        do {
            _ = try parts(text)
            return nil
        } catch {
            return error
        }
    }

    @Test("A profile with every kind of line is read as it was meant")
    func everyKindOfLine() throws {
        let part = try #require(try parts(CallgrindSample.text).first)
        #expect(part.pid == 4711 && part.thread == 3 && part.number == 2 && part.trigger == "Program termination")
        #expect(part.symbols == ["main", "work", "idle", "far", "unnumbered"])
        #expect(part.contexts == [[0], [1, 0], [2, 0], [3], [1, 0], [4]])
        // Lines of inlined.h within `main` count for `main`. The cost of calls does not.
        #expect(part.exclusive == [16, 50, 2, 1, 40, 2])
        #expect(part.total == 111 && part.hasChains)
        let calls = part.calls.map { [$0.caller, $0.callee, $0.count, $0.instructions] }
        #expect(calls == [[0, 1, 2, 90], [0, 2, 1, 3], [1, 4, 1, 40]])
    }

    @Test("The sum has to be what the file states at its end; without an end it is not whole")
    func sums() throws {
        let wrong = CallgrindSample.text.replacing("totals: 9 111 4", with: "totals: 9 112 4")
        #expect(failure(wrong)?.message.contains("add up to the 112 instructions stated, found 111") == true)
        let withoutEnd = CallgrindSample.text.replacing("totals: 9 111 4", with: "")
        #expect(failure(withoutEnd)?.message.contains("the file is not whole") == true)
    }

    @Test("Several parts in one file keep their numbers of names, and stay apart")
    func severalParts() throws {
        let second =
            "part: 3\nthread: 1\nevents: Ir\npositions: line\n\nfn=(1)\n1 7\ncfn=(2)\ncalls=1 1\n1 2\nfn=(2)\n2 2\ntotals: 9\n"
        let parts = try parts(CallgrindSample.text + second)
        #expect(parts.map(\.total) == [111, 9])
        #expect(parts.map(\.thread) == [3, 1] && parts.map(\.number) == [2, 3] && parts.map(\.pid) == [4711, 4711])
        #expect(parts[1].exclusive == [7, 2, 0, 0, 0, 0])
        let sum = parts.map { CallProfile($0) }.reduce(.empty, +)
        #expect(sum.total == 120 && sum.functions["main"]?.exclusive == 23)
    }

    @Test("The inclusive cost of a call that began before the part may be negative; an exclusive cost may not")
    func callsFromBefore() throws {
        let call = CallgrindSample.replacing(29, by: "+8 * 3 18446744073709551613 2")
        #expect(try parts(call)[0].calls.contains { $0.instructions == -3 })
        let own = try #require(failure(CallgrindSample.replacing(20, by: "0x400 16 1 18446744073709551613 1")))
        #expect(own.line == 20 && own.message.contains("a cost"), "\(own)")
    }

    @Test(
        "A damaged line is named with what was expected",
        arguments: [
            (2, "version: 2", 2, "version 1"),
            (4, "pid: self", 4, "the number of a process"),
            (14, "events: Dr Dw", 14, "Ir, instructions"),
            (14, "", 20, "events: before the first cost"),
            (19, "fl=(9)", 19, "a number that has one name"),
            (19, "0x400 16 1 10 1", 19, "fn= before the first cost"),
            (20, "0x400 16 1 10 1 0", 20, "3 costs at most"),
            (20, "0x400 16 1 ten", 20, "a cost"),
            (20, "0x400 16 1 99999999999999999999", 20, "a cost"),
            (20, "0x400 16 1 9007199254740990", 22, "costs that add up to 2^53 at most"),
            (28, "calls=9223372036854775807 0x500 1", 28, "calls that add up to 2^53 at most"),
            (32, "calls=9007199254740991 +10 9", 32, "calls that add up to 2^53 at most"),
            (20, "0x400", 20, "a position"),
            (20, "0x400 16x 1 10 1", 20, "a blank behind a position"),
            (27, "", 28, "cfn= before calls="),
            (27, "cfn=(1) work'main", 27, "a number that has one name"),
            (27, "cfn=(7) '2", 27, "the name of a function"),
            (28, "calls=two 0x500 1", 28, "a number of calls"),
            (29, "cfl=(3)", 29, "the cost of the call on the line before"),
            (29, "", 29, "the cost of the call on the line before"),
            (30, "colour=(3)", 30, "a line of callgrind's format"),
            (30, "what is this", 30, "a line of callgrind's format"),
        ])
    func damage(line: Int, new: String, reported: Int, expected: String) throws {
        let error = try #require(failure(CallgrindSample.replacing(line, by: new)))
        #expect(error.path == "out-03" && error.line == reported && error.message.contains(expected), "\(error)")
        #expect(error.description.hasSuffix("; record the profile again"))
    }

    @Test("A file that ends too early is not whole, wherever it ends")
    func truncation() throws {
        let bytes = Array(CallgrindSample.text.utf8)
        let whole = try CallgrindFile.parts(bytes, path: "out")
        for count in 0..<bytes.count {
            do {
                let parts = try CallgrindFile.parts(Array(bytes[..<count]), path: "out")
                // Text after the total of instructions may be missing.
                #expect(parts == whole && count >= bytes.count - 3)
            } catch {
                #expect(error.path == "out" && (error.line != nil) == (count > 0), "\(error)")
            }
        }
        #expect(failure("")?.description.contains("with -01") == true)
    }

    @Test(
        "Bytes changed at random end in an error or in a profile whose sum is right, never in a crash",
        arguments: seeds(20))
    func noise(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            var bytes = Array(CallgrindSample.text.utf8)
            for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            do {
                for part in try CallgrindFile.parts(bytes, path: "out") {
                    #expect(part.exclusive.reduce(0, +) == part.total)
                }
            } catch {
                #expect(error.line != nil)
            }
        }
    }

    @Test("A file that cannot be read is named")
    func missing() {
        #expect(throws: CallgrindError.self) { try CallgrindFile.read("/nowhere/out-01") }
    }
}
