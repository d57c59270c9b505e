// What the process holds while the load runs, and how much more with every commit: a store that keeps a kilobyte of each
// commit, a descriptor of each connection or every page it has freed is right in everything else, for an hour.
//
// What is looked at often is so within the window, after the warm-up, and the slope is that of Theil and Sen over the
// commits, which a cache that fills, or a file that grows by leaps, does not bend. Descriptors are counted
// twice, at two moments at which the same observers are there. The conducting thread.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

final class HoldingsMeter: Companion {
    /// Looks over the window, at most.
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

    /// When all has come to rest, with the observers that were there at the start.
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
