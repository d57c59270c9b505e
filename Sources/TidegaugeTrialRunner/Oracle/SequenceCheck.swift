// Checks that need no rows, for one observer or one delivery context.
import TidegaugeMeasure

enum SequenceCheck {
    /// Returns a sentence for each kind of violation in the observer's callbacks, about the first callback with it.
    static func violations(_ log: ObserverLog) -> [String] {
        var violations: [String] = []
        let name = log.observer.name
        if log.count > 0, !log[0].isInitial {
            violations.append(
                "first is initial: the first callback of \(name) is an update (version \(log[0].version))")
        }
        if let again = (0..<log.count).dropFirst().first(where: { log[$0].isInitial }) {
            violations.append("first is initial: callback \(again) of \(name) is initial again")
        }
        if let back = (0..<log.count).dropFirst().first(where: { log[$0].version < log[$0 - 1].version }) {
            violations.append(
                "monotonicity: callback \(back) of \(name) stands at version \(log[back].version), the one before it at "
                    + "\(log[back - 1].version)")
        }
        if let unversioned = (0..<log.count).first(where: { log[$0].flags.contains(.noVersion) }) {
            violations.append("monotonicity: callback \(unversioned) of \(name) has no version")
        }
        return violations
    }

    /// Checks that callbacks on one delivery context do not overlap, and that none has a lower version than the one of
    /// another observer just before it. Initial deliveries are excluded, because each comes when its subscription is
    /// ready.
    /// - Parameter together: whether the engine guarantees it (`Capabilities.advancesTogether`). If not, only
    ///   overlapping callbacks are violations.
    static func violations(site name: String, _ logs: [ObserverLog], together: Bool) -> [String] {
        var callbacks: [(record: CallbackRecord, observer: String)] = []
        for log in logs {
            for record in log.records where !record.isInitial { callbacks.append((record, log.observer.name)) }
        }
        callbacks.sort { $0.record.enterNs < $1.record.enterNs }
        var violations: [String] = []
        for (earlier, later) in zip(callbacks, callbacks.dropFirst()) {
            if later.record.enterNs < earlier.record.exitNs {
                violations.append(
                    "one at a time: on \(name), \(later.observer) was called while \(earlier.observer) was being called"
                )
                break
            }
        }
        guard together else { return violations }
        for (earlier, later) in zip(callbacks, callbacks.dropFirst()) where later.observer != earlier.observer {
            if later.record.version < earlier.record.version {
                violations.append(
                    "atomicity: on \(name), \(later.observer) was called at version \(later.record.version) after "
                        + "\(earlier.observer) at version \(earlier.record.version): one delivery shows two states")
                break
            }
        }
        return violations
    }
}
