// Ctrl-C and `kill`: the first ends the run in good order, with what was measured kept; the second ends it at once.
import Foundation
import Harness

/// Handles SIGINT and SIGTERM from `init` to `stop()`.
final class StopSignals {
    private let sources: [any DispatchSourceSignal]

    init(_ interruption: Interruption) {
        let queue = DispatchQueue(label: "stop signals")
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if interruption.isRaised { _exit(Outcome.interrupted.rawValue) }
                interruption.raise()
            }
            source.resume()
            return source
        }
    }

    func stop() { for source in sources { source.cancel() } }
}
