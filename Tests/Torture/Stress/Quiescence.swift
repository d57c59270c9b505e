// The check of I6. When all writers have stopped, every connection must reach the last version within `patienceS`, and
// every observer must have been told. The acknowledged commits of this process must exist, and no older version may be
// held.
import Glibc
import StillingWell

struct Quiescence {
    private static let patienceS = Limits.stallS / 2
    private let load: Load
    private let sites: [Site]

    init(_ load: Load, _ sites: [Site]) {
        self.load = load
        self.sites = sites
    }

    func check() {
        guard let last = load.expectNoError("quiescence", { try load.store.read { $0.version } }) else { return }
        let deadlineNs = monotonicNs() + Int64(Self.patienceS * 1e9)
        var missing = sites
        while !missing.isEmpty, monotonicNs() < deadlineNs {
            missing.removeAll { isAtRest($0, last) }
            if !missing.isEmpty { sleep(us: 20_000) }
        }
        for site in sites {
            let isLate = missing.contains { $0 === site }
            load.verdict.expect(
                .i6, !isLate, site.name,
                "\(Int(Self.patienceS)) s after the last commit, version \(last): "
                    + (isLate ? standing(site) : ""))
        }
        checkNothingIsHeld()
        checkAcknowledged()
    }

    /// Checks that nothing older than the last version is held, not even for killed processes.
    private func checkNothingIsHeld() {
        let deadlineNs = monotonicNs() + Int64(Self.patienceS * 1e9)
        while let pin = load.store.oldestPin, monotonicNs() < deadlineNs {
            // Commits release the versions of a killed process. It may take several commits.
            if kill(pin.process, 0) != 0 {
                _ = load.expectNoError("quiescence") {
                    try load.store.write { try Ledger.add(Plan.setupWriter, $0) }
                }
            }
            sleep(us: 1_000)
        }
        let pin = load.store.oldestPin
        load.verdict.expect(
            .i8, pin == nil, "the file", "with every connection at the last version there is held \(pin!)")
    }

    private func isAtRest(_ site: Site, _ version: UInt64) -> Bool {
        let counter = Counter()
        _ = site.place.performAndWait(seconds: Limits.stallS) {
            if site.checkAtRest(version) { counter.add() }
        }
        return counter.value > 0
    }

    private func standing(_ site: Site) -> String {
        let text = Box("it does not answer")
        _ = site.place.performAndWait(seconds: 1) { text.set(site.standingText) }
        return text.value
    }

    private func checkAcknowledged() {
        guard let commits = load.expectNoError("quiescence", { try load.store.read(Ledger.commits) }) else { return }
        let stored = commits.filter { !Plan.isForeign($0.key) && $0.key != Plan.setupWriter }.values.reduce(0, +)
        load.verdict.expect(
            .i6, stored == load.tally.commitCount, "the ledger",
            "\(load.tally.commitCount) commits of this process were acknowledged, \(stored) are stored")
    }
}
