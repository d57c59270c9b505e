// Measures what the process holds during the load, and its growth per commit.
//
// Most amounts are read often within the window. Their slope over commits is the Theil–Sen estimate, which is robust
// against caches that fill and files that grow in steps. Used on the conducting thread.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

final class HoldingsMeter: Companion {
    /// Divisor of the window's length; the quotient is the least interval between two looks by `look(_:)`.
    private static let looks: Int64 = 64

    private let store: any DrivenStore
    private let writing: any WritingSide
    private let asked: [Metric: TrialProvider.Holding]
    private var lengthNs: Int64 = 0
    private var nextNs: Int64 = 0
    private var figures = HoldingsFigures()

    init?(_ setup: TrialSetup, _ writing: any WritingSide) {
        (store, self.writing) = (setup.store, writing)
        asked = TrialProvider.holdings.filter { setup.spec.metrics.contains($0.key) }
        if asked.isEmpty { return nil }
    }

    func begin(_ window: Window) throws {
        lengthNs = window.lengthNs
        try look(at: asked)
    }

    func look(_ sinceNs: Int64) throws {
        guard sinceNs >= nextNs, sinceNs < lengthNs else { return }
        nextNs = sinceNs + lengthNs / Self.looks
        try look(at: asked.filter { $0.value.looks == .often })
    }

    /// Takes the last look, after the wait for deliveries.
    func end(into findings: inout Findings) throws {
        try look(at: asked)
        findings.holdings = figures
    }

    private func look(at holdings: [Metric: TrialProvider.Holding]) throws {
        let made = writing.commitsSoFar
        for (metric, holding) in holdings {
            guard let amount = try holding.amount(store) else { continue }
            figures.held[metric, default: []].append((made, amount))
        }
    }
}
