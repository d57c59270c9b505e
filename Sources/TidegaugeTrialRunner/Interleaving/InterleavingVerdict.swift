// Compares how an interleaving test ended with the ending that its scenario expects. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

extension InterleavingTrial {
    struct Verdict {
        let spec: TrialSpec
        let play: InterleavingSpec
        private var expected: InterleavingSpec.Ending { play.ending(on: spec.driver) }

        /// - Parameters:
        ///   - hang: the hang that the watchdog found.
        ///   - fault: an error that the store or the harness reported.
        func result(
            _ hang: HangRecord?, _ fault: TrialFault?, _ inversions: [HangRecord], elapsedNs: Int64
        ) -> TrialResult {
            let fault = hang == nil ? fault : nil
            var result = fault.map { TrialResult($0) } ?? TrialResult(fate: .completed)
            result.hangs += inversions
            for index in result.hangs.indices { result.hangs[index].isExpected = expected == .deadlock }
            if fault != nil { return result }
            if let hang {
                judge(hang, into: &result)
            } else if expected != .completes {
                violate("expected a \(expected.rawValue), but it completed", &result)
            }
            result.figures = figures(hang: hang, elapsedNs: elapsedNs)
            return result
        }

        /// Times in ns. A provider returns nil if the test did not deadlock (detection time) or did hang (completion
        /// time).
        static let providers: KeyValuePairs<Metric, @Sendable (_ hang: HangRecord?, _ elapsedNs: Int64) -> Int64?> = [
            .hangDetectionTime: { hang, _ in hang?.kind == .deadlock ? hang?.afterNs : nil },
            .interleavingTestTime: { hang, elapsedNs in hang == nil ? elapsedNs : nil },
        ]

        private func figures(hang: HangRecord?, elapsedNs: Int64) -> [Figure] {
            Self.providers.compactMap { metric, timeNs in
                timeNs(hang, elapsedNs).map { Figure(metric, .value, Double($0), n: 1) }
            }
        }

        private func judge(_ hang: HangRecord, into result: inout TrialResult) {
            var hang = hang
            hang.isExpected = hang.kind.rawValue == expected.rawValue
            let isAsSaid = play.cycle.isEmpty || Self.turned(play.cycle) == Self.turned(hang.cycle)
            result.notes = [hang.sentence]
            if !hang.isExpected {
                result.fate = .hang
            } else if hang.kind == .deadlock, !isAsSaid {
                hang.isExpected = false
                violate(
                    "it deadlocked in another cycle than the scenario says: \(hang.cycle.joined(separator: ", ")) "
                        + "instead of "
                        + play.cycle.joined(separator: ", "), &result)
            }
            result.hangs.insert(hang, at: 0)
        }

        private func violate(_ text: String, _ result: inout TrialResult) {
            result.fate = .oracleViolation
            result.violations.append(spec.located(text))
            result.violationCount += 1
        }

        /// Rotates a cycle so that its smallest link comes first, because a cycle has no beginning.
        private static func turned(_ cycle: [String]) -> [String] {
            guard let first = cycle.indices.min(by: { cycle[$0] < cycle[$1] }) else { return [] }
            return Array(cycle[first...] + cycle[..<first])
        }
    }
}
