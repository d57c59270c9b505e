// The output at the end of a run: counts, and the first violation, if any, with the command that runs its seed again.
import StillingWell

struct Report {
    private let load: Load
    private let seconds: Double

    init(_ load: Load, seconds: Double) {
        self.load = load
        self.seconds = seconds
    }

    var text: String {
        ([heading] + counts + [features] + checks + [verdict]).joined(separator: "\n")
    }

    private var heading: String {
        let plan = load.plan
        return """
            seed \(plan.seed): \(duration) s, \(plan.durabilityText), \(plan.viewCount) observers on \
            \(plan.sites.count) connections, \(plan.localWriters) local and \(plan.foreignWriters) foreign writers
            the seed decides all of that, the queries and what each actor draws; the timing of threads it does not
            """
    }

    private var duration: String { seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)" }

    private func line(_ name: String, _ values: [(String, Int)]) -> String {
        let padded = name.padding(to: 14)
        return padded + values.map { "\($0.0) \($0.1)" }.joined(separator: " · ")
    }

    private var counts: [String] {
        let tally = load.tally
        let updates = max(1, tally.updates.value)
        let mean = (Double(tally.versionsTold.value) / Double(updates) * 10).rounded() / 10
        return [
            line(
                "commits",
                [
                    ("local", tally.value(of: .localCommits)), ("on connections", tally.value(of: .connectionCommits)),
                    ("in callbacks", tally.value(of: .callbackCommits)), ("foreign", load.foreignCommits),
                    ("silent", tally.value(of: .silentCommits)), ("rolled back", tally.value(of: .rolledBack)),
                    ("timed out", tally.value(of: .timedOut)),
                ]),
            line("callbacks", PlaceKind.allCases.map { ($0.name, tally.callbacks[$0.ordinal].value) }),
            line(
                "",
                [
                    ("initial", tally.initials.value), ("updates", tally.updates.value),
                    ("rows told", tally.changesTold.value), ("slow", tally.value(of: .slowCallbacks)),
                    ("of objects", tally.value(of: .objects)),
                    ("of the store", tally.value(of: .stores)), ("of the ledger", tally.ledgerCallbacks.value),
                ]),
            "coalescing    \(mean) versions per update, at most \(tally.mostVersionsTold.value)",
            line(
                "kills",
                [
                    ("SIGKILL", tally.value(of: .kills)), ("of these in silence", tally.value(of: .strictKills)),
                    ("slowest recovery in ms", tally.slowestRecoveryUs.value / 1_000),
                ]),
            line("forks", [("children", tally.value(of: .forks)), ("stood still", tally.forksStoodStill.value)]),
            line("neighbours", [("damaged", tally.value(of: .neighbours)), ("errors", tally.neighboursErrors.value)]),
            line(
                "tokens",
                [
                    ("made", tally.tokensMade.value), ("invalidated on their place", tally.tokensEndedOnPlace.value),
                    ("in callbacks", tally.value(of: .endedInCallback)),
                    ("on other threads", tally.value(of: .endedElsewhere)), ("dropped", tally.value(of: .dropped)),
                    ("skipped", tally.skips.value), ("skips crossed", tally.value(of: .skipsCrossed)),
                ]),
            line(
                "opened",
                [
                    ("connections", tally.connectionsOpened.value), ("stores", tally.storesOpened.value + 1),
                    ("refreshes", tally.value(of: .refreshes)),
                ]),
            line(
                "file",
                [
                    ("MB at most", tally.fileBytes.value >> 20),
                    ("commits a version was held for at most", tally.heldCommits.value),
                ]),
            line(
                "left",
                [
                    ("descriptors", tally.filesLeft.value),
                    ("bytes of heap per commit", tally.heapBytesPerCommit.value),
                ]),
        ]
    }

    /// Counts of all features.
    private var features: String {
        var lines: [String] = []
        var pending = Feature.allCases.map { "\($0.text) \(load.count(of: $0))" }[...]
        while !pending.isEmpty {
            lines.append((lines.isEmpty ? "features" : "").padding(to: 14) + pending.prefix(6).joined(separator: " · "))
            pending = pending.dropFirst(6)
        }
        let unjudged = Feature.allCases.filter { !load.hasDone($0.expectedFrom) && load.count(of: $0) == 0 }
        if !unjudged.isEmpty {
            lines.append(
                "".padding(to: 14) + "\(load.workText) are too few to expect: "
                    + unjudged.map(\.text).joined(separator: " · "))
        }
        return lines.joined(separator: "\n")
    }

    private var checks: [String] {
        let counts = Invariant.allCases.filter { ![.stall, .noError, .coverage].contains($0) }
            .map { ($0.name, load.verdict.checkCount($0)) }
        return [
            line("checks", counts),
            """
                          every callback on small tables; on large ones ids in 1 of \(View.largeIDsInterval), from \
            scratch in 1 of \(View.largeScanInterval)
            """,
        ]
    }

    private var verdict: String {
        guard let violation = load.verdict.firstViolation else { return "violations    0" }
        let detail = violation.detail.split(separator: "\n").joined(separator: "\n    ")
        let replay = "make stress SECONDS=\(max(20, Int(seconds.rounded(.up)))) SEED=\(load.plan.seed)"
        return """
            violations    \(load.verdict.violationCount)

            VIOLATION of \(violation.invariant.name): \(violation.invariant.text)
              observer  \(violation.observer)
                \(detail)
              seed      \(load.plan.seed)
              replay    \(replay)
            """
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
