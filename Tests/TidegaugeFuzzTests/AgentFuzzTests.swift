// Fuzzes the frames that a host's agent sends to its trial.
import Foundation
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing
import TidegaugeDriver

@testable import TidegaugeMeasure
@testable import TidegaugeScenario
@testable import TidegaugeSpec
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite("Fuzzing agents", .serialized, .onThreads)
struct AgentFuzzTests {
    /// Ends a message of an input. No JSON holds this byte.
    private static let end: UInt8 = 0xFF

    private static let words = [
        "null", "true", "-1", "0", "9223372036854775807", "-9223372036854775808", "1e400", "{}", "[]", "\"\"",
        "\"failure\":", "\"kill\"", "\"stop\"",
    ]

    private static func spec() throws -> TrialSpec {
        let text = """
            purpose: How long does it take?
            represents: a complaint
            dataset: { items: 10 }
            observers: { count: 2, queries: same }
            writers: { threads: 2, rate: 10/s }
            measure: [delivery_latency]
            gate: delivery_latency
            duration: 1s
            """
        let scenario = try Scenario.parse(Array(text.utf8), path: "fuzz.yaml", drivers: ["noop"])
        return try #require(try scenario.trials(profile: .ci, drivers: ["noop"]).first)
    }

    /// Returns valid messages of an agent.
    private static func good(_ nowNs: Int64) throws -> [[UInt8]] {
        func message(_ kind: HostFrame.Kind, _ payload: [UInt8]) -> [UInt8] { [kind.rawValue] + payload + [end] }
        func message(_ kind: HostFrame.Kind, _ value: some Encodable) throws -> [UInt8] {
            message(kind, try HostFrame(kind, value).payload)
        }
        let commit = CommitRecord(dueNs: nowNs, beginNs: nowNs, lockedNs: nowNs, committedNs: nowNs, version: 1)
        let callback = CallbackRecord(
            enterNs: nowNs, exitNs: nowNs, version: 1, count: 1, indexOffset: 0, deletionCount: 0, insertionCount: 1,
            modificationCount: 0, moveCount: 0, flags: [])
        let seen = HostObservation(
            observer: 0, site: 0, subscribedNs: nowNs, endNs: nowNs, callbacks: PackedArray([callback]),
            indices: PackedArray([0]), items: PackedArray([Item(key: 1, group: 0, score: 1, stamp: 1)]),
            shown: PackedArray([1, 2]))
        func raw<Value>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        let stop = HostFaultReport(kind: .stop, hitNs: nowNs, releasedNs: nowNs, lastVersion: 1, lastCommittedNs: nowNs)
        var report = HostReport()
        report.cpu.roleNs = ["writer": 1]
        report.noise = NoiseAccount(stealShare: 0.001, hiccupP99Ns: 150_000)
        return [
            try message(.hello, HostHello(clock: .current(), cores: 2)),
            message(.progress, HostFrame(.progress, integers: [1]).payload),
            message(.pong, HostFrame(.pong, integers: [nowNs, nowNs + 1, nowNs + 2]).payload),
            message(.records, [0] + raw(commit) + raw(commit)), message(.loaded, []),
            message(.observed, raw(seen.observer) + raw(nowNs) + raw(callback) + raw(Int32(0))),
            try message(.observed, seen), try message(.fault, stop), try message(.done, report),
            try message(.done, HostReport(failure: .store("no room"))),
        ]
    }

    /// The frames of a message. Records and callbacks are packed as an agent packs them.
    private static func frames(_ message: ArraySlice<UInt8>) throws -> [HostFrame] {
        guard let first = message.first, let kind = HostFrame.Kind(rawValue: first) else { return [] }
        let payload = Array(message.dropFirst())
        if kind == .records, let writer = payload.first {
            return HostRecords.frames(writer: Int(writer), values(payload.dropFirst(), CommitRecord.self))
        }
        guard kind == .observed else { return [HostFrame(kind: kind, payload: payload)] }
        let stride = MemoryLayout<CallbackRecord>.stride
        guard payload.first != UInt8(ascii: "{"), payload.count >= 16 + stride else {
            return [HostFrame(kind: kind, payload: [1] + payload)]
        }
        let numbers = values(payload[..<16], Int64.self)
        return try HostObservation(
            observer: Int(numbers[0]), site: Int(truncatingIfNeeded: numbers[0] >> 1), subscribedNs: numbers[1],
            endNs: numbers[1], callbacks: PackedArray(values(payload[16..<16 + stride], CallbackRecord.self)),
            indices: PackedArray(values(payload[(16 + stride)...], Int32.self)), items: PackedArray([])
        ).frames()
    }

    private static func values<Value: BitwiseCopyable>(_ bytes: ArraySlice<UInt8>, _: Value.Type) -> [Value] {
        let stride = MemoryLayout<Value>.stride
        return bytes.withUnsafeBytes { bytes in
            (0..<bytes.count / stride).map { bytes.loadUnaligned(fromByteOffset: $0 * stride, as: Value.self) }
        }
    }

    @Test("agent: frames are taken and make an account, or the host is at fault", arguments: seeds(1))
    func agent(_ seed: UInt64) throws {
        let spec = try Self.spec()
        let plan = QueryAssignment(spec)
        let nowNs = MonotonicClock.nowNs()
        let window = Window(startNs: nowNs, endNs: nowNs + 1_000_000_000)
        // The link only gives the host a name. The frames do not come from it.
        let link = try HostLink(HostEntry(name: "b", run: ["/bin/sh", "-c", "read line"]))
        defer { link.end() }
        let messages = try Self.good(nowNs)
        let stream = try messages.flatMap { try Self.frames($0.dropLast()[...]) }.flatMap(\.bytes)
        let good = messages + [Array(messages.joined()), [0] + stream]
        var fuzzer = try Fuzzer("agent", seed: seed, words: Self.words, good: good)
        try fuzzer.run(1_000) { bytes -> String in
            // An input that begins with 0 is a stream, others are messages with their ends.
            let stream =
                bytes.first == 0
                ? Array(bytes.dropFirst())
                : try bytes.split(separator: Self.end).flatMap { try Self.frames($0) }.flatMap(\.bytes)
            let station = HostStation(link, writers: 0..<2, observes: true, spec)
            var (reader, clock) = (HostFrameReader(), HostClock(isSame: false))
            var kinds: Set<String> = []
            do {
                for piece in [stream[..<(stream.count / 2)], stream[(stream.count / 2)...]] {
                    reader.add(piece)
                    while let frame = try reader.next() {
                        try Self.take(frame, station, &clock)
                        kinds.insert("\(frame.kind)")
                    }
                }
                try reader.end()
                _ = try Echo(station, window, plan)
            } catch let fault as TrialFault {
                #expect(!fault.description.isEmpty)
                return kind(of: fault)
            } catch let damage as HostFrame.Damage {
                return kind(of: damage)
            } catch let number as HostNumber {
                return kind(of: number)
            } catch let contradiction as ClockContradiction {
                return kind(of: contradiction)
            }
            let loss = HostLoss(
                .host("gone"), sinceNs: 1, window, [station.account(window)], station.localRecords())
            _ = try JSONEncoder().encode(loss.result)
            return "\(kinds.sorted()) \(min(station.commits, 3)) \(station.observations.count)"
        }
    }

    private static func take(_ frame: HostFrame, _ station: HostStation, _ clock: inout HostClock) throws {
        switch frame.kind {
        case .hello: _ = try frame.decoded(HostHello.self).place
        case .pong:
            let moments = try frame.integers(3)
            for moment in moments {
                try HostNumber.check("a moment", moment, in: -HostNumber.mostNs...HostNumber.mostNs)
            }
            try clock.add(
                ClockExchange(
                    sentNs: moments[0], arrivedNs: moments[1], leftNs: moments[2], returnedNs: moments[0] + 1_000))
            _ = clock.local(moments[1])
            _ = clock.bounds(atNs: clock.remote(moments[0]))
        default: _ = try station.take(frame)
        }
    }
}
