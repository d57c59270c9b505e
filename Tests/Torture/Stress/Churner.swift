// A thread that draws an action and a site. The site draws the target.
import StillingWellSeededRandom
import StillingWellSync

final class Churner: Sendable {
    private static let callbacksPerTurn = 20
    private static let longestPauseMs = 100
    private let load: Load
    private let sites: [Site]
    let heartbeat = Heartbeat("churner")

    init(_ load: Load, _ sites: [Site]) {
        self.load = load
        self.sites = sites
    }

    func start() -> TracedThread { TracedThread("churner") { [self] in run() } }

    private func run() {
        var random = load.plan.random("churner")
        while !load.isStopping {
            heartbeat.beat()
            let site = random.one(of: sites)
            turn(site, &random)
            let untilNs = monotonicNs() + Int64(Self.longestPauseMs) * 1_000_000
            let count = load.tally.callbackCount
            sleep(us: random.from(500...8_000))
            // Waits up to 100 ms for some callbacks, so that a slow machine calls observers before they end.
            while load.tally.callbackCount < count + Self.callbacksPerTurn, monotonicNs() < untilNs, !load.isStopping {
                sleep(us: 500)
            }
        }
        heartbeat.end()
    }

    private func turn(_ site: Site, _ random: inout SeededRandom) {
        let place = site.place
        switch random.below(40) {
        case 0..<6: site.endSomeView(.invalidate, &random)
        case 6: site.endSomeView(.drop, &random)
        case 7, 8: place.perform { site.endSomeViewHere(.invalidate) }
        case 9: place.perform { site.endSomeViewHere(.drop) }
        case 10: place.perform { site.reopen() }
        case 11..<19: place.perform { site.tend() }
        case 19..<22: place.perform { site.refresh() }
        case 22, 23: place.perform { site.pause() }
        case 24: place.perform { site.cancelSomeLoop() }
        default: place.perform { site.write() }
        }
    }
}
