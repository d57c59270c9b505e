// What the process holds while the load runs, and how much more with every commit: a store that keeps a kilobyte of each
// commit, a descriptor of each connection or every page it has freed is right in everything else, for an hour.
//
// Heap, memory and file are looked at again and again within the window, after the warm-up, and the slope is that of
// Theil and Sen over the commits, which a cache that fills, or a file that grows by leaps, does not bend. Descriptors are
// counted twice, at two moments at which the same observers are there. The conducting thread.
import Measure
import Scenario
import Statistics
import StoreDriver

final class HoldingsMeter: Companion {
    /// Looks over the window, at most.
    private static let looks: Int64 = 64

    private let store: any DrivenStore
    private let work: any WritingSide
    private let asked: Set<Metric>
    private var window = Window(startNs: 0, endNs: 0)
    private var nextNs: Int64 = 0
    private var held: [Metric: [(commits: Int, amount: Int)]] = [:]

    /// Nil where the trial does not ask.
    init?(_ spec: TrialSpec, _ store: any DrivenStore, _ work: any WritingSide) {
        asked = Set(spec.measure.compactMap { Metric(rawValue: $0) }.filter(\.isHolding))
        guard !asked.isEmpty else { return nil }
        self.store = store
        self.work = work
    }

    func begin(_ window: Window) throws {
        self.window = window
        nextNs = window.startNs
        try look(at: asked)
    }

    func look(_ nowNs: Int64) throws {
        guard nowNs >= nextNs, nowNs < window.endNs else { return }
        nextNs = nowNs + (window.endNs - window.startNs) / Self.looks
        try look(at: asked.subtracting([.openFiles]))
    }

    /// When all has come to rest, with the observers that were there at the start.
    func end(into findings: inout Findings) throws {
        try look(at: asked)
        findings.probes.holdings = HoldingsFigures(held: held)
    }

    private func look(at metrics: Set<Metric>) throws {
        let made = work.commitsSoFar
        for metric in metrics {
            guard let amount = try amount(metric) else { continue }
            held[metric, default: []].append((made, amount))
        }
    }

    private func amount(_ metric: Metric) throws -> Int? {
        switch metric {
        case .liveBytes: AllocationProbe.liveBytes().map { Int($0) }
        case .residentBytes: ProcessHoldings.residentBytes
        case .fileBytes: try store.fileBytes()
        case .openFiles: ProcessHoldings.openFiles
        default: nil
        }
    }
}
