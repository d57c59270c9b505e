// Keys of a scenario file that are not settings. Values only.

/// A key at the top of a file.
enum FileKey: String, CaseIterable {
    case extends, without
    case purpose, represents, drivers
    case dataset, observers, writers, fault, server
    case sweep, measure, limits, gate, answers, profiles
    case threads, expect, cycle

    static let sections: [FileKey] = [.dataset, .observers, .writers, .fault, .server]
    /// Keys of files with a load.
    static let ofLoads = allCases.filter { ![.threads, .expect, .cycle].contains($0) }
    /// Keys of files with an interleaving test (`threads`).
    static let ofInterleavingTests: [FileKey] = [
        .extends, .without, .purpose, .represents, .drivers, .limits, .threads, .expect, .cycle,
    ]
    /// Keys of a load that profiles cannot change.
    static let fixed = ofLoads.filter { $0 != .sweep && !sections.contains($0) }

    /// One-sentence description.
    var summary: String {
        switch self {
        case .extends:
            "A scenario whose keys hold here too: a file, from this one's folder, or the name of one. Sections and profiles "
                + "are gone through key by key; everything else that this file says replaces what that one says as a whole."
        case .without:
            "Keys of the scenario it extends that do not hold here, such as `writers.rate` where the load is closed."
        case .purpose: "The question it asks, in a sentence."
        case .represents: "The complaint or document it stands for. Optional."
        case .drivers:
            "The only drivers it is meant for; where drivers are compared, it is with the first. Default: all."
        case .dataset: "The rows that are in the store before anything is observed."
        case .observers: "Who watches what, where, and what they do when called."
        case .writers: "Who changes which rows, and when."
        case .fault: "What is done on purpose while a trial runs."
        case .server: "What drivers of servers turn to."
        case .sweep: "Keys and the values each takes: every combination is a point. A list of such maps is their union."
        case .measure: "The metrics to report."
        case .limits: "What metrics have to keep: a condition, or several with the points at which each holds."
        case .gate:
            "The one metric that commits are compared by. Default: the first under `measure` that is the store's own, of a "
                + "single trial, with a better and a worse, and no count of broken promises."
        case .answers:
            "The questions of the summary that it answers: latency, staleness, coalescing, upkeep, rate. Of several scenarios the "
                + "first that was run answers. Default: none, and the summary takes a scenario whose gate is the metric."
        case .profiles: "What `smoke`, `ci` and `full` change: settings, or the sweep as a whole."
        case .threads: "An interleaving test: named threads and the steps of each."
        case .expect: "How an interleaving test ends; by driver, or on all."
        case .cycle: "Who waits for what in the deadlock that is expected, as `thread > resource`."
        }
    }
}
