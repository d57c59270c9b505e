// Runs one counted trial: the same store, rows, observers and oracle as a timed trial, but a number of commits instead
// of a duration. Each commit begins when all other threads sleep, and the observing threads then run one after the
// other (`Turns`), so that the order of the work does not depend on what else runs on the machine.
import CStillingWellPlatform
import Glibc
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

struct CountedTrial {
    /// Number of turns without a commit; their cost is subtracted.
    private static let rests = 32
    /// Number of turns between two progress reports. The parent takes a silent child for a hung one.
    private static let reportEvery = 20

    let spec: TrialSpec
    let count: CountSpec
    let driver: any StoreDriver
    let storeDirectory: String
    let report: (TrialProgress) -> Void

    func measure() throws -> TrialResult {
        guard let counter = InstructionCounter(rawValue: count.counter) else {
            throw TrialFault.refused("this binary has no instruction counter '\(count.counter)'")
        }
        // Must come before other threads start, because they inherit the affinity.
        if case let code = cp_take_turns_on_core(getpid()), code != 0 {
            throw TrialFault.harness(
                "cannot keep its threads on one core (errno \(code)): count where affinity may be set")
        }
        let setup = try TrialSetup(spec, driver, directory: storeDirectory, hosts: [], report)
        let turns = try Turns(setup, most: count.warmUpCommits + count.commits)
        report(.init(.measuring))
        try repeating(count.warmUpCommits) { try turns.commit() }
        let section = try CountedSection(
            counter, turns.roles(upkeep: driver.capabilities.upkeepThreadPrefixes), setup.store)
        try repeating(Self.rests) { try turns.rest() }
        try section.endRest()
        let startNs = MonotonicClock.nowNs()
        try repeating(count.commits) { try turns.commit() }
        try section.endCommits()
        turns.end()
        let window = Window(startNs: startNs, endNs: MonotonicClock.nowNs())

        report(.init(.settling))
        let history = History(
            spec: spec, dataset: setup.dataset, plan: setup.plan, writers: turns.records, missed: [])
        try setup.group.awaitQuiescence(history)
        var findings = Findings(history, setup.plan, window)
        findings.counters = section.engineCounters
        report(.init(.checking))
        let endNs = MonotonicClock.nowNs()
        let logs = try setup.group.logs()
        let oracle = Oracle(spec, driver.capabilities, setup.dataset, setup.plan, history, logs)
        var verdict = try oracle.verdict(setup.store, setup.group)
        findings.violations += try CancellationCheck.check(setup.store, setup.group, logs) {}
        verdict.add(findings.violations)
        var result = FigureSheet(spec, endNs: endNs, history, logs, setup.plan, verdict, findings).result()
        result.count = section.account(
            commits: findings.commits, affecting: findings.affectingCommits, rests: Self.rests)
        return result
    }

    private func repeating(_ times: Int, _ body: () throws -> Void) throws {
        for index in 0..<times {
            if index.isMultiple(of: Self.reportEvery) { report(.init(.measuring)) }
            try body()
        }
    }
}
