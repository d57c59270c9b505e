// Tests of rows with text and bytes, and with counterparts in other tables.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeGRDBDriver
import TidegaugeHarnessFixtures
import TidegaugeNoopDriver
import TidegaugeNotificationQueueDriver
import TidegaugeSQLiteHooksDriver
import TidegaugeStillingWellDriver

@testable import TidegaugeSpec
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite(.serialized, .onThreads) struct WholeRowTests {
    private static let drivers: [any StoreDriver] = [
        ModelDriver(), StillingWellDriver(), GRDBDriver(.pool), GRDBDriver(.memory), SQLiteHooksDriver(),
    ]

    private func tiny(_ driver: String, seed: UInt64 = 1) -> TrialSpec {
        var spec = TrialSpec.tiny(driver: driver, seed: seed)
        (spec.dataset.textCharacters, spec.dataset.payloadBytes, spec.dataset.tables) = (40, 100, 3)
        spec.durationNs = 200_000_000
        return spec
    }

    @Test("a row's contents follow from seed, key and stamp: the text from all three, the bytes from seed and key")
    func contents() {
        for seed in testSeeds(8) {
            let shape = RowShape(textCharacters: 37, payloadBytes: 61, tables: 4, seed: seed)
            let item = Item(key: 5, group: 0, score: 9, stamp: 3)
            let row = shape.whole(item)
            #expect(row == shape.whole(item) && row.text.count == 37 && row.payload.count == 61, "seed \(seed)")
            #expect(row.counterpartStamp == 3 && shape.counterpart(of: 5) == 2)
            var (later, other) = (item, item)
            (later.stamp, other.key) = (4, 6)
            #expect(shape.whole(later).text != row.text && shape.whole(later).payload == row.payload)
            #expect(shape.whole(other).text != row.text && shape.whole(other).payload != row.payload)
            let reseeded = RowShape(textCharacters: 37, payloadBytes: 61, tables: 4, seed: seed &+ 1).whole(item)
            #expect(reseeded.text != row.text && reseeded.payload != row.payload)
        }
        let plain = RowShape.plain.whole(Item(key: 1, group: 0, score: 2, stamp: 3))
        #expect(RowShape.plain.isPlain && plain.text.isEmpty && plain.payload.isEmpty && plain.counterpartStamp == nil)
        let texts = (0..<50).map { RowShape(textCharacters: 200).text(of: Item(key: $0, group: 0, score: 0, stamp: 0)) }
        #expect(texts.contains { $0.utf8.count > 200 }, "letters of two bytes are among them")
    }

    @Test(arguments: cases(drivers.map(\.name), atEveryCommit: ["stillingwell", "sqlite-hooks"]))
    func everyEngineKeepsWhatRowsHold(_ name: String) throws {
        let driver = try #require(Self.drivers.first { $0.name == name })
        for seed in testSeeds(1) {
            var spec = tiny(name, seed: seed)
            let shapes: [(text: Int?, bytes: Int?, tables: Int?)] = [(40, 5_000, nil), (7, nil, 8)]
            for (text, bytes, tables) in shapes {
                (spec.dataset.textCharacters, spec.dataset.payloadBytes, spec.dataset.tables) = (text, bytes, tables)
                let result = try runTrial(spec, on: driver) {
                    ($0.counts["callbacks"] ?? 0) > 3 && ($0.counts["rows_compared"] ?? 0) > 100
                }
                #expect(result.fate == .completed, "\(name), seed \(seed): \(result.notes) \(result.violations)")
                #expect(result.value(.missedFinal) == 0)
            }
        }
    }

    @Test(arguments: [
        (Fault.staleText, "the live collection of observer 0: row key"), (.swappedBytes, "query 0: row key"),
        (.tornCounterpart, "inside a callback of observer 0: row key"),
    ])
    func whatIsWrongInsideARowIsSeen(fault: Fault, text: String) throws {
        let result = try runTrial(tiny(fault.rawValue), on: FaultyDriver(fault)) {
            $0.fate != .completed || ($0.counts["callbacks"] ?? 0) > 20
        }
        #expect(result.fate == .oracleViolation, "\(result.notes)")
        #expect(
            result.violations.contains { $0.hasPrefix("whole rows: ") && $0.contains(text) }, "\(result.violations)")
        // Checks of keys, scores and stamps do not find this fault.
        #expect(result.violations.allSatisfy { $0.hasPrefix("whole rows: ") }, "\(result.violations)")
    }

    @Test func aFaultIsDescribedByWhatIsThereAndWhatShouldBe() {
        let shape = RowShape(textCharacters: 5, payloadBytes: 3, tables: 2, seed: 1)
        let item = Item(key: 7, group: 0, score: 0, stamp: 2)
        let row = shape.whole(item)
        #expect(shape.fault(in: row) == nil)
        var (other, cut, torn, bare) = (row, row, row, row)
        other.text = "wrong"
        cut.payload = row.payload.dropLast()
        torn.counterpartStamp = 1
        bare.counterpartStamp = nil
        #expect(shape.fault(in: other) == "row key 7 stamp 2 has the text 'wrong', should be '\(row.text)'")
        #expect(shape.fault(in: cut) == "row key 7 stamp 2 has 2 bytes (should be 3)")
        #expect(shape.fault(in: torn) == "row key 7 stamp 2 has a counterpart with stamp 1, should be stamp 2")
        #expect(shape.fault(in: bare) == "row key 7 stamp 2 has a counterpart with none, should be stamp 2")
    }

    @Test func whoKeepsNoSuchRowsIsSkippedWithTheReason() {
        let reason = "its rows are four numbers each, in one table"
        for driver in [NoopDriver() as any StoreDriver, NotificationQueueDriver()] {
            for change: (inout DatasetSpec) -> Void in [
                { $0.tables = 2 }, { $0.payloadBytes = 1 }, { $0.textCharacters = 1 },
            ] {
                var spec = TrialSpec.tiny(driver: driver.name)
                #expect(CapabilityCheck.obstacle(spec, driver.capabilities) == nil)
                change(&spec.dataset)
                #expect(CapabilityCheck.obstacle(spec, driver.capabilities) == reason)
            }
        }
    }

    /// Counts are stored under a checksum of the spec, so it must not contain the unset keys.
    @Test func aSpecOfPlainRowsSaysNothingOfThem() throws {
        let text = String(decoding: try SpecDialect.json(.tiny(), version: TrialSpec.currentVersion), as: UTF8.self)
        for key in ["textCharacters", "payloadBytes", "tables"] { #expect(!text.contains(key)) }
    }
}
