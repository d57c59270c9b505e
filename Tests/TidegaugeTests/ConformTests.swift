// Tests of `tidegauge conform`, with correct drivers and wrong engines.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeNoopDriver
import TidegaugeProcessDriver
import TidegaugeStillingWellDriver

@testable import TidegaugeTrialRunner

@Suite(.onThreads, .enabled(if: Subprocess.find("python3") != nil, "no python3 here")) struct ConformTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL.path
    /// Longer than a delivery takes on a busy machine.
    private static let patienceNs: Int64 = 60_000_000_000
    /// Limit for wrong engines. A delivery that they leave out is waited for until the limit, so it is short.
    private static let shortNs: Int64 = 4_000_000_000

    private func engine(_ arguments: String) throws -> any StoreDriver {
        let program = EngineProgram(command: "python3 Tests/Fixtures/Engines/\(arguments)", folder: Self.root)
        return try KnownEngine(meeting: program).driver
    }

    private func broken(
        _ verdicts: [(promise: ConformPromise, verdict: ConformVerdict)]
    ) -> [ConformPromise: (history: ConformHistory, sentence: String)] {
        var found: [ConformPromise: (history: ConformHistory, sentence: String)] = [:]
        for case (let promise, .broken(let history, let sentence)) in verdicts { found[promise] = (history, sentence) }
        return found
    }

    // MARK: Right engines

    @Test func theDictionaryKeepsEveryPromise() throws {
        let verdicts = try Conformer(try engine("dictionary.py"), limitNs: Self.patienceNs).verdicts(
            seeds: Array(1...24))
        #expect(broken(verdicts).isEmpty, "\(broken(verdicts))")
        let untested = verdicts.filter { if case .notApplicable = $0.verdict { true } else { false } }
        #expect(untested.map(\.promise) == [.durable])
    }

    @Test(arguments: [NoopDriver(), StillingWellDriver()] as [any StoreDriver])
    func driversKeepEveryPromise(_ driver: any StoreDriver) throws {
        let found = broken(try Conformer(driver, limitNs: Self.patienceNs).verdicts(seeds: Array(1...40)))
        #expect(found.isEmpty, "\(found)")
    }

    // MARK: Wrong engines

    private static let wrong: [(String, ConformPromise)] = [
        ("initial-twice", .initial), ("version-ahead", .initial), ("early", .firstIsInitial),
        ("first-is-an-update", .firstIsInitial), ("version-back", .versions), ("old-rows", .versions),
        ("deletions-one-by-one", .changeSets), ("insertions-descending", .changeSets),
        ("move-not-inserted", .changeSets), ("delivers-unchanged", .twice), ("delivers-twice", .twice),
        ("late", .cancelled), ("late", .cancelledUnderLoad), ("lost-update", .serial), ("same-version", .serial),
        ("partial-commit", .failing), ("missing-row-ignored", .failing), ("at-most", .contents),
        ("sorts-as-text", .contents), ("done-before-begun", .times), ("future", .times), ("no-rows", .facts),
        ("wrong-count", .facts), ("garbage", .messages), ("die", .requests), ("fails-at-the-end", .close),
    ]

    /// Mistakes that the same checks find.
    private static let alike: [(String, ConformPromise)] = [
        ("at-most", .initial), ("move-as-modification", .changeSets), ("wrong-row-named", .failing),
        ("other-error", .failing), ("ignores-descending", .contents), ("past", .times), ("wrong-id", .messages),
        ("error", .requests),
    ]

    @Test(arguments: cases(wrong + alike, atEveryCommit: wrong))
    func aWrongEngineIsNamed(_ mistake: String, _ promise: ConformPromise) throws {
        try expect(mistake, breaks: promise)
    }

    /// Engines that leave something out.
    @Test(
        arguments: [
            ("no-initial", .initial), ("skips-a-commit", .covered), ("cancel-forgets-another", .covered),
            ("forgets-the-final-state", .lastState), ("version-before", .versions), ("silent", .requests),
            ("stays", .close),
        ] as [(String, ConformPromise)])
    func anEngineThatLeavesSomethingOutIsNamed(_ mistake: String, _ promise: ConformPromise) throws {
        try expect(mistake, breaks: promise)
    }

    private func expect(_ mistake: String, breaks promise: ConformPromise) throws {
        let conformer = Conformer(try engine("wrong.py \(mistake)"), limitNs: Self.shortNs, mostRuns: 0)
        // Histories with an even seed have concurrent writers; every second one of them cancels meanwhile.
        let first: UInt64 = [.serial, .cancelledUnderLoad].contains(promise) ? 4 : 1
        let found = broken(
            try conformer.verdicts(seeds: Array(stride(from: first, to: 160, by: 4))) { $0.contains(promise) })
        let history = try #require(found[promise]?.history, "found \(found.mapValues(\.sentence))")
        #expect(history.commits <= 10)
    }

    /// The shortened history still breaks the promise, and is found again by its seed.
    @Test func aHistoryIsShortened() throws {
        let driver = try engine("wrong.py modification-missed")
        let conformer = Conformer(driver, limitNs: Self.patienceNs)
        let found = broken(try conformer.verdicts(seeds: Array(1...40)) { $0.contains(.changeSets) })
        let first = try #require(found[.changeSets])
        #expect(first.history.commits == 1 && first.history.lines.count <= 4, "\(first)")
        let again = broken(try conformer.verdicts(seeds: [first.history.seed]))
        #expect(again[.changeSets]?.history == first.history && again[.changeSets]?.sentence == first.sentence)
    }

    @Test func historiesAreSmallAndRepeatable() {
        let capabilities = StillingWellDriver().capabilities
        let histories = (1...300).map { HistoryGenerator.history(seed: $0, capabilities) }
        #expect(histories.allSatisfy { $0.commits <= 10 && $0.commits > 0 })
        #expect(histories == (1...300).map { HistoryGenerator.history(seed: $0, capabilities) })
        #expect(histories.contains { $0.failingCommits > 0 } && histories.contains { $0.isConcurrent })
        #expect(histories.allSatisfy { history in history.shorter.allSatisfy { $0 != history } })
    }
}
