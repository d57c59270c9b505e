// Results of the interleaving tests of a run by engine. Known-bad controls, which are expected not to complete, share
// one column, because each has only one flaw. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

struct InterleavingTests {
    enum Outcome: Equatable {
        case completed(ns: Double?)
        /// The expected ending was seen; for a deadlock, after this time.
        case caught(ns: Double?)
        /// An unexpected ending.
        case failed(String)
        case skipped
        case none

        var isWell: Bool { if case .failed = self { false } else { true } }
    }

    struct Control: Equatable {
        var driver: String
        var outcome: Outcome
    }

    struct Row: Equatable {
        var scenario: String
        /// One outcome per element of `engines`.
        var outcomes: [Outcome]
        var controls: [Control]

        var isWell: Bool { outcomes.allSatisfy(\.isWell) && controls.allSatisfy(\.outcome.isWell) }
    }

    /// Engines that are expected to complete at least one test.
    let engines: [String]
    let rows: [Row]

    init(_ record: RunRecord) {
        let plays = record.trials.filter { $0.spec.interleaving != nil }
        let names = Digest.inOrder(plays.map(\.spec.scenario))
        let engines = Digest.inOrder(plays.filter { !$0.isControl }.map(\.spec.driver))
        let times = Dictionary(
            grouping: record.rows.filter {
                $0.figure.metric == .interleavingTestTime || $0.figure.metric == .hangDetectionTime
            }, by: { TrialKey($0) })
        func ns(_ trials: [TrialRecord]) -> Double? {
            median(trials.flatMap { times[$0.key, default: []].compactMap(\.figure.value) })
        }
        func outcome(_ trials: [TrialRecord]) -> Outcome {
            if let failed = trials.first(where: { $0.fate != .completed }) {
                return .failed(failed.fate.flag?.text ?? "failed")
            }
            return trials.contains(where: \.isControl) ? .caught(ns: ns(trials)) : .completed(ns: ns(trials))
        }
        self.engines = engines
        rows = names.map { name in
            let own = plays.filter { $0.spec.scenario == name }
            let controls = Digest.inOrder(own.filter(\.isControl).map(\.spec.driver))
            return Row(
                scenario: name,
                outcomes: engines.map { engine in
                    let trials = own.filter { $0.spec.driver == engine && !$0.isControl }
                    if !trials.isEmpty { return outcome(trials) }
                    let isSkipped = record.skipped.contains { $0.scenario == name && $0.driver == engine }
                    return isSkipped ? .skipped : .none
                },
                controls: controls.map { driver in
                    Control(driver: driver, outcome: outcome(own.filter { $0.spec.driver == driver }))
                })
        }
    }

    var isWell: Bool { rows.allSatisfy(\.isWell) }

    /// Summaries such as `25 of 25 interleaving tests completed by stillingwell, 22 of 22 by fetched-results` and `23 of
    /// 23 known-bad controls caught`.
    var sentences: [String] {
        let completed = engines.indices.map { index in
            let played = rows.map { $0.outcomes[index] }.filter { $0 != .none && $0 != .skipped }
            return "\(played.count(where: \.isWell)) of \(played.count)"
                + "\(index == 0 ? " interleaving tests completed" : "") by \(engines[index])"
        }
        let controls = rows.flatMap(\.controls)
        let caught = "\(controls.count(where: \.outcome.isWell)) of \(controls.count) known-bad controls caught"
        return [completed.joined(separator: ", ")].filter { !$0.isEmpty } + (controls.isEmpty ? [] : [caught])
    }
}

extension TrialRecord {
    /// Whether another ending than completion was expected.
    fileprivate var isControl: Bool {
        spec.interleaving.map { $0.ending(on: spec.driver) != .completes } ?? false
    }
}
