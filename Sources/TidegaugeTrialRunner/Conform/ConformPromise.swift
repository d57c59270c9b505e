// The promises of an engine to its observers and writers, and the breach of one.
import TidegaugeDriver

/// Raw values are the texts of `tidegauge conform`.
package enum ConformPromise: String, CaseIterable, Sendable {
    case initial = "one initial delivery, with the rows of its version"
    case firstIsInitial = "nothing before the initial delivery"
    case covered = "every commit is covered by a delivery"
    case lastState = "the final state is delivered"
    case versions = "versions ascend and belong to the rows shown"
    case changeSets = "change sets lead from one delivery to the next"
    case twice = "nothing is delivered twice, or without a change"
    case cancelled = "nothing is delivered after cancel"
    case cancelledUnderLoad = "nothing is delivered after cancel under load"
    case serial = "concurrent writers serialise"
    case failing = "a failing commit applies nothing and names the missing row"
    case contents = "contents equal the model"
    case context = "deliveries run in their context, one at a time"
    case times = "times are in order"
    case durable = "commits survive a killed process"
    case facts = "facts agree with behaviour"
    case messages = "messages are complete and in order"
    case requests = "requests succeed"
    case close = "the store closes cleanly, and delivers nothing afterwards"
}

/// The breach of a promise.
struct ConformBreach: Sendable {
    var sentence: String
    /// Whether something did not come within the time limit.
    var isTimeout = false
}

struct ConformBreaches: Sendable {
    private(set) var found: [ConformPromise: ConformBreach] = [:]

    /// Keeps the first breach of each promise.
    mutating func add(_ promise: ConformPromise, _ sentence: String, isTimeout: Bool = false) {
        if found[promise] == nil { found[promise] = ConformBreach(sentence: sentence, isTimeout: isTimeout) }
    }

    /// Adds an error of the engine.
    /// - Parameter promise: the promise that the error breaks, unless its `reportName` belongs to another promise.
    ///   With `cancelledUnderLoad`, only late deliveries break that promise, and other errors break `requests`.
    mutating func add(_ error: any Error, in action: String, breaks promise: ConformPromise = .requests) {
        let name = (error as? any NamedEngineError)?.reportName
        let broken: ConformPromise =
            switch name {
            case "engine_time": .times
            case "engine_facts": .facts
            case "engine_early_delivery": .firstIsInitial
            case "engine_late_delivery": promise == .cancelledUnderLoad ? promise : .cancelled
            case "engine_order", "engine_garbage", "engine_line_too_long": .messages
            case "engine_stays": .close
            default: promise == .cancelledUnderLoad ? .requests : promise
            }
        // The error comes last: its text may end with the engine's last lines on standard error.
        add(
            broken, "\(action): \(name.map { "\($0): " } ?? "")\(error)",
            isTimeout: name == "engine_silent" || name == "engine_stays")
    }
}
