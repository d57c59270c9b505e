// How a choreography ended against how it was to end. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

extension ChoreographyTrial {
    struct Verdict {
        let spec: TrialSpec
        let play: Choreography
        private var expected: Choreography.Ending { play.ending(on: spec.driver) }

        /// - Parameters:
        ///   - hang: what the watchdog has found.
        ///   - fault: what the store or the harness reported instead.
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
                violate("it was to end in a \(expected.rawValue), and it completed", &result)
            }
            result.figures = figures(hang: hang, elapsedNs: elapsedNs)
            return result
        }

        /// In ns: of one that hung, and of one that came to its end.
        static let providers: KeyValuePairs<Metric, @Sendable (_ hang: HangRecord?, _ elapsedNs: Int64) -> Int64?> = [
            .hangDetectionTime: { hang, _ in hang?.kind == .deadlock ? hang?.afterNs : nil },
            .choreographyTime: { hang, elapsedNs in hang == nil ? elapsedNs : nil },
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
                    "it deadlocked otherwise than the scenario says: \(hang.cycle.joined(separator: ", ")) instead of "
                        + play.cycle.joined(separator: ", "), &result)
            }
            result.hangs.insert(hang, at: 0)
        }

        private func violate(_ text: String, _ result: inout TrialResult) {
            result.fate = .oracleViolation
            result.violations.append(spec.located(text))
            result.violationCount += 1
        }

        /// A circle has no beginning: the smallest link comes first.
        private static func turned(_ cycle: [String]) -> [String] {
            guard let first = cycle.indices.min(by: { cycle[$0] < cycle[$1] }) else { return [] }
            return Array(cycle[first...] + cycle[..<first])
        }
    }
}
