// Tests of frames.
import Foundation
import StillingWellSeededRandom
import Testing
import TidegaugeMeasure

@testable import TidegaugeTrialRunner

@Suite struct HostFrameTests {
    @Test func bytesAreLengthKindPayload() throws {
        let ping = HostFrame(.ping, integers: [0x0102_0304, -1])
        let header: [UInt8] = [16, 0, 0, 0, 2]
        let payload: [UInt8] = [4, 3, 2, 1, 0, 0, 0, 0] + Array(repeating: 255, count: 8)
        #expect(ping.bytes == header + payload)
        #expect(try ping.integers(2) == [0x0102_0304, -1])
        #expect(HostFrame(kind: .ready).bytes == [0, 0, 0, 0, 5])
    }

    @Test(arguments: testSeeds(20))
    func framesComeInPiecesOfAnyLength(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let frames = (0..<40).map { _ in
            HostFrame(
                kind: HostFrame.Kind.allCases.randomElement(using: &random)!,
                payload: (0..<random.below(300)).map { _ in UInt8(random.below(256)) })
        }
        var rest = frames.flatMap(\.bytes)[...]
        var reader = HostFrameReader()
        var read: [HostFrame] = []
        while !rest.isEmpty {
            let piece = rest.prefix(1 + random.below(200))
            rest = rest.dropFirst(piece.count)
            reader.add(piece)
            while let frame = try reader.next() { read.append(frame) }
        }
        #expect(read == frames, "seed \(seed)")
        try reader.end()
        reader.add([1, 0])
        #expect(throws: HostFrame.Damage.cut(bytes: 2)) { try reader.end() }
    }

    @Test func whatIsNoFrameSaysWhatItIsAndWhatToDo() {
        var greeted = HostFrameReader()
        greeted.add(Array("Welcome to b.example!\n".utf8))
        let words = #expect(throws: HostFrame.Damage.self) { try greeted.next() }.map { "\($0)" } ?? ""
        #expect(words.contains("it begins 'Welcome to b.example!.'") && words.contains("ssh -T"), "\(words)")
        var long = HostFrameReader()
        long.add([1, 0, 64, 0, 1])
        #expect(throws: HostFrame.Damage.tooLong(bytes: HostFrame.mostBytes + 1, first: [1, 0, 64, 0, 1])) {
            try long.next()
        }
        var unknown = HostFrameReader()
        unknown.add([0, 0, 0, 0, 99])
        #expect(throws: HostFrame.Damage.unknownKind(99, first: [0, 0, 0, 0, 99])) { try unknown.next() }
        #expect(throws: HostFrame.Damage.unreadable(.pong, reason: "3 bytes, not 8")) {
            try HostFrame(kind: .pong, payload: [1, 2, 3]).integers(1)
        }
    }

    private func commits(_ count: Int, _ random: inout SeededRandom) -> [CommitRecord] {
        var ns: Int64 = 0
        return (0..<count).map { index in
            ns += Int64(random.below(1_000_000))
            return CommitRecord(
                dueNs: ns, beginNs: ns + 5, lockedNs: ns + 10, committedNs: ns + 100, version: Int64(index))
        }
    }

    @Test(arguments: [0, 1, HostRecords.mostPerPart, HostRecords.mostPerPart + 3])
    func recordsComeAsTheyWent(_ count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        let records = commits(count, &random)
        let frames = HostRecords.frames(writer: 7, records)
        #expect(frames.count == max(1, (count + HostRecords.mostPerPart - 1) / HostRecords.mostPerPart))
        #expect(frames.allSatisfy { $0.payload.count < HostFrame.mostBytes })
        let parts = try frames.map { try HostRecords($0) }
        #expect(parts.allSatisfy { $0.writer == 7 } && parts.flatMap(\.records) == records)
    }

    @Test(arguments: testSeeds(10))
    func damagedRecordsAreRefused(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let frame = HostRecords.frames(writer: 0, commits(50, &random))[0]
        var cut = frame
        cut.payload.removeLast(1 + random.below(frame.payload.count))
        #expect(throws: HostFrame.Damage.self, "seed \(seed)") { try HostRecords(cut) }
        // The count must equal the number of records.
        var miscounted = frame
        miscounted.payload[8] = UInt8([0, 49, 51].randomElement(using: &random)!)
        #expect(throws: HostFrame.Damage.self, "seed \(seed)") { try HostRecords(miscounted) }
        var huge = frame
        huge.payload[15] = 0x7F
        #expect(throws: HostFrame.Damage.self) { try HostRecords(huge) }
    }

    /// Converting a time to the faster clock and back is wrong by at most one nanosecond.
    @Test(arguments: [0, 50, 1_000, -50])
    func aFasterClockIsReadBack(_ fasterPPM: Int) {
        let clock = ScaledClock(fasterPPM: fasterPPM)
        for ns: Int64 in [0, 999_999, 1_000_001, 4_000_000_123, 87_654_321_987_654] {
            let shown = clock.shown(ns)
            #expect(abs(Double(shown - ns) - Double(ns) * Double(fasterPPM) / 1e6) <= 1)
            #expect(abs(clock.own(shown) - ns) <= 1)
        }
    }
}
