// Tests of extreme numbers in the frames of an agent.
import Foundation
import Testing
import TidegaugeDriver
import TidegaugeSpec

@testable import TidegaugeMeasure
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite(.serialized) struct HostNumberTests {
    private static let extremes: [Int64] = [.min, .min + 1, -1 << 62, 1 << 61, 1 << 62, .max - 1, .max]

    private func station() throws -> HostStation {
        let host = HostEntry(name: "b", run: ["/bin/sh", "-c", "read line"])
        return HostStation(try HostLink(host), writers: 0..<2, observes: true, .tiny(driver: "noop"))
    }

    /// Takes frames, and derives records and an echo from them, like a trial. Returns the fault, or nil.
    private func refusal(_ frames: [HostFrame]) throws -> String? {
        let station = try station()
        defer { station.link.end() }
        let nowNs = MonotonicClock.nowNs()
        let window = Window(startNs: nowNs, endNs: nowNs + 1_000_000_000)
        let spec = TrialSpec.tiny(driver: "noop")
        do {
            for frame in frames { _ = try station.take(frame) }
            _ = station.localRecords()
            _ = try Echo(station, window, QueryAssignment(spec))
            return nil
        } catch let fault as TrialFault {
            #expect(TrialResult(fault).fate == .harnessFault(reason: "host"), "\(fault)")
            return fault.description
        }
    }

    private func commit(_ change: (inout CommitRecord) -> Void) -> [HostFrame] {
        let nowNs = MonotonicClock.nowNs()
        var record = CommitRecord(dueNs: nowNs, beginNs: nowNs, lockedNs: nowNs, committedNs: nowNs, version: 1)
        change(&record)
        return HostRecords.frames(writer: 0, [record])
    }

    private func observation(
        _ change: (inout HostObservation, inout CallbackRecord) -> Void
    ) throws -> [HostFrame] {
        let nowNs = MonotonicClock.nowNs()
        var callback = CallbackRecord(
            enterNs: nowNs, exitNs: nowNs, version: 1, count: 1, indexOffset: 0, deletionCount: 0, insertionCount: 1,
            modificationCount: 0, moveCount: 0, flags: [])
        var seen = HostObservation(
            observer: 0, site: 0, subscribedNs: nowNs, endNs: nowNs, callbacks: PackedArray([]),
            indices: PackedArray([0]),
            items: PackedArray([]))
        change(&seen, &callback)
        seen.callbacks = PackedArray([callback])
        return try seen.frames()
    }

    @Test func honestNumbersAreTaken() throws {
        #expect(try refusal(commit { _ in } + observation { _, _ in }) == nil)
        // A callback that has not ended yet.
        #expect(try refusal(observation { $1.exitNs = 0 }) == nil)
    }

    @Test(arguments: extremes) func anExtremeNumberIsTheHostsFault(value: Int64) throws {
        let small = Int32(truncatingIfNeeded: value >> 32)
        var frames: [(String, [HostFrame])] = [
            ("progress", [HostFrame(.progress, integers: [value])]),
            ("due", commit { $0.dueNs = value }), ("begin", commit { $0.beginNs = value }),
            ("locked", commit { $0.lockedNs = value }), ("committed", commit { $0.committedNs = value }),
            ("enter", try observation { $1.enterNs = value }), ("exit", try observation { $1.exitNs = value }),
            ("subscribed", try observation { seen, _ in seen.subscribedNs = value }),
            ("end", try observation { seen, _ in seen.endNs = value }),
            ("offset", try observation { $1.indexOffset = value }), ("count", try observation { $1.count = value }),
        ]
        // 32-bit counts: a billion and more, of either sign.
        for (name, path) in [
            ("deletions", \CallbackRecord.deletionCount), ("insertions", \.insertionCount),
            ("modifications", \.modificationCount),
        ] as [(String, WritableKeyPath<CallbackRecord, Int32>)] {
            frames.append((name, try observation { $1[keyPath: path] = small | 1 << 30 }))
        }
        for kind in [HostFault.Kind.kill, .stop] {
            var report = HostFaultReport(kind: kind, hitNs: MonotonicClock.nowNs())
            report.committed = Int(value)
            frames.append(("committed", [try HostFrame(.fault, report)]))
            report = HostFaultReport(kind: kind, hitNs: value)
            frames.append(("hit", [try HostFrame(.fault, report)]))
            report = HostFaultReport(kind: kind, hitNs: MonotonicClock.nowNs(), releasedNs: value)
            frames.append(("released", [try HostFrame(.fault, report)]))
            report = HostFaultReport(kind: kind, hitNs: MonotonicClock.nowNs(), lastCommittedNs: value)
            frames.append(("last commit", [try HostFrame(.fault, report)]))
        }
        for path in [\CPUAccount.processNs, \.harnessNs, \.spunNs] {
            var report = HostReport()
            report.cpu[keyPath: path] = value
            frames.append(("CPU", [try HostFrame(.done, report)]))
        }
        var report = HostReport()
        report.cpu.roleNs["writer"] = value
        frames.append(("CPU of a role", [try HostFrame(.done, report)]))
        for (name, said) in frames {
            let refusal = try refusal(said)
            #expect(refusal?.hasPrefix("host: 'b': it said ") ?? false, "\(name) \(value): \(refusal ?? "taken")")
        }
    }

    @Test(arguments: [Int64.min, .max]) func anExtremeVersionIsTheHostsFault(value: Int64) throws {
        #expect(try refusal(commit { $0.version = value }) != nil)
        #expect(try refusal(observation { $1.version = value }) != nil)
        #expect(
            try refusal([
                HostFrame(
                    .fault, HostFaultReport(kind: .kill, hitNs: MonotonicClock.nowNs(), lastVersion: value))
            ]) != nil)
    }

    @Test func moreCommitsThanAWriterCanMakeAreRefused() throws {
        let nowNs = MonotonicClock.nowNs()
        let record = CommitRecord(dueNs: nowNs, beginNs: nowNs, lockedNs: nowNs, committedNs: nowNs, version: 1)
        let many = Array(repeating: record, count: TrialSize.commitsPerWriter(.tiny(driver: "noop")))
        #expect(try refusal(HostRecords.frames(writer: 1, many)) == nil)
        let words = try refusal(
            HostRecords.frames(writer: 1, many) + HostRecords.frames(writer: 1, many))
        #expect(words?.contains("a number of commits \(2 * many.count)") ?? false, "\(words ?? "taken")")
    }

    @Test func moreThanObserversCanRecordIsRefused() throws {
        let most = HostObservation.Most(.tiny(driver: "noop"))
        let observed = try observation { _, _ in }
        let many = Array(repeating: observed, count: most.observers + 1).flatMap { $0 }
        let words = try refusal(many)
        #expect(words?.contains("records of more observers than its \(most.observers)") ?? false, "\(words ?? "taken")")
        // All zeros, which compress well.
        let indices = [Int32](repeating: 0, count: most.indices + 1)
        let tooMany = try refusal(observation { seen, _ in seen.indices = PackedArray(indices) })
        #expect(tooMany?.contains("\(most.indices) are the most of this trial") ?? false, "\(tooMany ?? "taken")")
    }

    /// An answer to a ping that was not sent.
    @Test(arguments: [[Int64(7), 1, 2], [.min, 0, 0], [.max, .max, .max]]) func anAnswerToNoPingIsTheHostsFault(
        moments: [Int64]
    ) throws {
        let pong = HostFrame(.pong, integers: moments).bytes.map { String(format: "\\%03o", $0) }.joined()
        let link = try HostLink(HostEntry(name: "b", run: ["/bin/sh", "-c", "printf '\(pong)'; read line"]))
        defer { link.end() }
        let error = #expect(throws: TrialFault.self) { try link.learnClock(exchanges: 1, withinNs: 60_000_000_000) }
        #expect(error?.description.contains("none was sent then") ?? false, "\(error as Any)")
    }

    @Test func aDriftOverAnyTimeIsBounded() throws {
        var offset = ClockOffset()
        try offset.add(ClockExchange(sentNs: 0, arrivedNs: 1 << 60, leftNs: 1 << 60, returnedNs: 1_000))
        #expect(offset.bounds(atNs: 1 << 60) != nil && offset.local(.max / 2) != nil)
    }
}
