// Why a trial ended without figures. What the oracle finds wrong is not a fault: it is a result.
import TidegaugeDriver

/// Ends a trial early.
package enum TrialFault: Error, CustomStringConvertible {
    /// Something that had to make progress made none within the hang timeout.
    case hang(String)
    /// This driver, or this binary, cannot do what the spec asks.
    case refused(String)
    /// The engine reported an error.
    case store(String)
    /// The engine cannot run on this machine.
    case unavailable(String)
    /// The harness could not do its own part.
    case harness(String)
    /// A host is gone, or says nothing, or what no agent says.
    case host(String)

    private var parts: (flag: String, words: String, reason: String) {
        switch self {
        case .hang(let reason): ("hang", "hang", reason)
        case .refused(let reason): ("refused", "refused", reason)
        case .store(let reason): ("store_error", "store error", reason)
        case .unavailable(let reason): ("unavailable", "unavailable", reason)
        case .harness(let reason): ("harness", "harness fault", reason)
        case .host(let reason): ("host", "host", reason)
        }
    }

    package var description: String { "\(parts.words): \(parts.reason)" }

    /// For the `flags` column: a word.
    package var flag: String { parts.flag }

    /// What an error that ended a trial says.
    package init(_ error: any Error) {
        switch error {
        case let fault as TrialFault: self = fault
        case let fault as DriverUnavailable: self = .unavailable(fault.description)
        default: self = .store("\(error)")
        }
    }
}
