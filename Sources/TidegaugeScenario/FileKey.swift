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
            "Scenario to extend: a file relative to this one, or the name of a scenario. Sections and profiles are merged "
                + "key by key. Any other key of this file replaces that of the extended file."
        case .without:
            "Keys of the extended scenario to remove, such as `writers.rate` if the load is closed."
        case .purpose: "The question that the scenario asks, in one sentence."
        case .represents: "The public complaint or document behind the question. Optional."
        case .drivers:
            "The only drivers that the scenario is meant for. Metrics that compare drivers compare with the first. Default: all."
        case .dataset: "Rows that are in the store before anything is observed."
        case .observers: "Observers: their number, queries, delivery contexts, and what they do in callbacks."
        case .writers: "Writers: their number, which rows they change, and when."
        case .fault: "Fault that is injected during a trial."
        case .server: "Settings of drivers whose store is a server."
        case .sweep:
            "Keys with the values of each. Every combination is a point. A list of such maps has the points of all."
        case .measure: "Metrics to report."
        case .limits: "Conditions on metrics: one for each metric, or several with the points at which each holds."
        case .gate:
            "Metric by which commits are compared. Default: the first under `measure` that measures the store, needs "
                + "neither a sweep nor another driver, has a better direction, and does not count events."
        case .answers:
            "Questions of the summary that the scenario answers: latency, staleness, coalescing, upkeep, rate. If "
                + "several scenarios answer one, the first that was run is used. Default: none; the summary then uses a scenario "
                + "whose gate is the metric of the question."
        case .profiles: "Settings, or the whole sweep, that `smoke`, `ci` and `full` replace."
        case .threads: "An interleaving test: named threads and the steps of each."
        case .expect: "Expected end of an interleaving test, for each driver or for all."
        case .cycle: "Waits of the expected deadlock, as `thread > resource`."
        }
    }
}
