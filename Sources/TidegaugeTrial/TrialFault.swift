// Reasons why a trial ended without figures. Violations found by the oracle are results, not faults.
import TidegaugeDriver

/// An error that ends a trial early.
package enum TrialFault: Error, CustomStringConvertible {
    /// No progress within the hang timeout.
    case hang(String)
    /// The driver or this binary cannot run the spec.
    case refused(String)
    /// The engine reported an error.
    case store(String)
    /// The engine cannot run on this machine.
    case unavailable(String)
    /// The harness could not do its own part.
    case harness(String)
    /// A host was lost, did not answer, or sent an invalid message.
    case host(String)
    /// The engine failed in a way that has a name of its own.
    case engine(name: String, String)

    private var parts: (flag: String, words: String, reason: String) {
        switch self {
        case .hang(let reason): ("hang", "hang", reason)
        case .refused(let reason): ("refused", "refused", reason)
        case .store(let reason): ("store_error", "store error", reason)
        case .unavailable(let reason): ("unavailable", "unavailable", reason)
        case .harness(let reason): ("harness", "harness fault", reason)
        case .host(let reason): ("host", "host", reason)
        case .engine(let name, let reason): (name, "engine", reason)
        }
    }

    package var description: String { "\(parts.words): \(parts.reason)" }

    /// Value for the `flags` column.
    package var flag: String { parts.flag }

    /// Wraps an error that ended a trial.
    package init(_ error: any Error) {
        switch error {
        case let fault as TrialFault: self = fault
        case let fault as DriverUnavailable: self = .unavailable(fault.description)
        case let fault as any NamedEngineError: self = .engine(name: fault.reportName, fault.description)
        default: self = .store("\(error)")
        }
    }

    /// Returns the fault for an error that the engine reported in `place`, such as the name of a writer.
    package static func store(_ place: String, _ error: any Error) -> TrialFault {
        if let fault = error as? any NamedEngineError {
            return .engine(name: fault.reportName, "\(place): \(fault.description)")
        }
        return .store("\(place): \(error)")
    }
}
