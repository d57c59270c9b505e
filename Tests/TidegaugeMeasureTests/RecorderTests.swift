import StillingWellSeededRandom
import Testing

@testable import TidegaugeMeasure

@Suite("Recorders")
struct RecorderTests {
    @Test("Samples that do not fit are counted, and those that fit stay")
    func overflow() throws {
        let recorder = try CommitRecorder(capacity: 2)
        for version in 1...5 as ClosedRange<Int64> {
            let kept = recorder.record(
                CommitRecord(dueNs: 1, beginNs: 2, lockedNs: 3, committedNs: 4, version: version))
            #expect(kept == (version <= 2))
        }
        #expect(recorder.records.map(\.version) == [1, 2])
        #expect(recorder.overflowCount == 3)
    }

    @Test("Room for a thousand million commits costs nothing until it is used")
    func generousCapacity() throws {
        let recorder = try CommitRecorder(capacity: 1_000_000_000, prefaulted: 1_000)
        recorder.record(CommitRecord(dueNs: 1, beginNs: 2, lockedNs: 3, committedNs: 4, version: 5))
        #expect(recorder.records.count == 1)
        #expect(recorder.records.first?.committedNs == 4)
    }

    @Test("Room that no machine has is an error with a remedy")
    func noAddressSpace() {
        #expect(throws: RecorderError.self) { try RecordBuffer<UInt64>(capacity: 1 << 58) }
        #expect("\(RecorderError.noAddressSpace(bytes: 8, errno: 12))".contains("ulimit -v"))
    }

    @Test("A recorder without room still takes records")
    func empty() throws {
        let recorder = try CallbackRecorder(capacity: 0, indexCapacity: 0)
        let kept = recorder.record(
            enterNs: 1, version: 1, isInitial: true, count: 0, deletions: [], insertions: [], modifications: [],
            moveCount: 0)
        recorder.finish(exitNs: 2)
        #expect(!kept && recorder.overflowCount == 1 && recorder.records.isEmpty)
    }

    @Test("Callbacks come back as they went in", arguments: seeds(50))
    func callbacks(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let recorder = try CallbackRecorder(capacity: 100, indexCapacity: 10_000)
        var lists: [[[Int]]] = []
        for n in 0..<60 {
            let list = (0..<3).map { _ in
                (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...1_000_000, using: &random) }
            }
            lists.append(list)
            recorder.record(
                enterNs: Int64(n), version: n == 7 ? nil : Int64(n) * 3, isInitial: n == 0, count: n + 5,
                deletions: list[0], insertions: list[1], modifications: list[2], moveCount: n % 4)
            recorder.finish(exitNs: Int64(n) + 100)
        }
        #expect(recorder.records.count == 60 && recorder.overflowCount == 0 && recorder.indexOverflowCount == 0)
        for (n, record) in recorder.records.enumerated() {
            #expect(record.enterNs == Int64(n) && record.exitNs == Int64(n) + 100)
            #expect(record.isInitial == (n == 0) && record.flags.contains(.noVersion) == (n == 7))
            #expect(record.version == (n == 7 ? 0 : Int64(n) * 3) && record.count == Int64(n) + 5)
            #expect(record.moveCount == Int32(n % 4))
            #expect(try #require(recorder.deletions(of: record)).map { Int($0) } == lists[n][0])
            #expect(try #require(recorder.insertions(of: record)).map { Int($0) } == lists[n][1])
            #expect(try #require(recorder.modifications(of: record)).map { Int($0) } == lists[n][2])
        }
    }

    @Test("Lists that do not fit are lost whole and said to be; counts and later callbacks stay right")
    func indicesLost() throws {
        let recorder = try CallbackRecorder(capacity: 10, indexCapacity: 4)
        func record(_ deletions: [Int], _ insertions: [Int]) {
            recorder.record(
                enterNs: 0, version: 1, isInitial: false, count: 0, deletions: deletions, insertions: insertions,
                modifications: [], moveCount: 0)
            recorder.finish(exitNs: 9)
        }
        record([1, 2], [3, 4, 5])
        record([6], [7])
        #expect(recorder.indexOverflowCount == 3)
        let lost = recorder.records[0]
        #expect(lost.flags.contains(.indicesLost) && recorder.deletions(of: lost) == nil)
        #expect(lost.deletionCount == 2 && lost.insertionCount == 3)
        #expect(recorder.deletions(of: recorder.records[1]).map(Array.init) == [6])
        #expect(recorder.insertions(of: recorder.records[1]).map(Array.init) == [7])
    }

    @Test("A callback that did not fit does not end the one before it")
    func finishAfterOverflow() throws {
        let recorder = try CallbackRecorder(capacity: 1, indexCapacity: 4)
        for exitNs in [10, 20] as [Int64] {
            recorder.record(
                enterNs: 0, version: 1, isInitial: false, count: 0, deletions: [], insertions: [], modifications: [],
                moveCount: 0)
            recorder.finish(exitNs: exitNs)
        }
        #expect(recorder.records[0].exitNs == 10)
    }

    @Test("Recording allocates nothing", .enabled(if: AllocationProbe.isAvailable))
    func allocationFree() throws {
        let commits = try CommitRecorder(capacity: 10_000)
        let callbacks = try CallbackRecorder(capacity: 10_000, indexCapacity: 100_000)
        let indices = Array(0..<7)
        let counters = try #require(ThreadAllocations())
        // Runs several rounds, because the Swift runtime sometimes allocates a table on any thread. An allocation by
        // the recorders would occur in every round.
        var leastGrowth = UInt64.max
        for _ in 0..<5 {
            let before = counters.allocatedBytes
            // A `while` loop, because an iterator over a range allocates in debug builds.
            var n: Int64 = 0
            while n < 1_000 {
                commits.record(CommitRecord(dueNs: n, beginNs: n, lockedNs: n, committedNs: n, version: n))
                callbacks.record(
                    enterNs: n, version: n, isInitial: false, count: 7, deletions: indices, insertions: indices,
                    modifications: indices, moveCount: 2)
                callbacks.finish(exitNs: n)
                n += 1
            }
            leastGrowth = min(leastGrowth, counters.allocatedBytes - before)
        }
        #expect(leastGrowth == 0)
        #expect(commits.records.count == 5_000 && callbacks.records.count == 5_000)
    }
}
