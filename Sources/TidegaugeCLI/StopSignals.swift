// SIGINT and SIGTERM: the first ends the run in order and keeps its results, the second ends it at once. Two within
// 0.5 s count as one, because `timeout` signals both the process and its group.
import Foundation
import StillingWellSync
import TidegaugeMeasure
import TidegaugeRun

/// Handles SIGINT and SIGTERM from `init` to `stop()`. Handlers run on one serial queue.
final class StopSignals {
    private static let togetherNs: Int64 = 500_000_000

    private let sources: [any DispatchSourceSignal]

    init(_ interruption: Interruption) {
        let queue = DispatchQueue(label: "stop signals")
        let firstNs = Guarded<Int64?>("first stop signal", nil)
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let nowNs = MonotonicClock.nowNs()
                let beforeNs = firstNs.withLock { first in
                    defer { first = first ?? nowNs }
                    return first
                }
                guard let beforeNs else { return interruption.raise() }
                if nowNs - beforeNs > Self.togetherNs { _exit(Outcome.interrupted.rawValue) }
            }
            source.resume()
            return source
        }
    }

    func stop() { for source in sources { source.cancel() } }
}
