// How a choreography ended against how it was to end. Pure.
import Measure
import Scenario
import Trials

extension ChoreographyTrial {
    struct Verdict {
        let spec: TrialSpec
        let expected: Choreography.Ending
        let cycle: [String]

        /// - Parameters:
        ///   - hang: what the watchdog has found.
        ///   - fault: what the store or the harness reported instead.
        func result(
            _ hang: HangRecord?, fault: TrialFault?, _ inversions: [HangRecord], elapsedNs: Int64
        ) -> TrialResult {
            var result = TrialResult(fate: .completed)
            result.hangs = inversions.map { inversion in
                var inversion = inversion
                inversion.isExpected = expected == .deadlock
                return inversion
            }
            if let hang {
                judge(hang, into: &result)
                result.figures += figures(hang: hang, elapsedNs: elapsedNs)
            } else if let fault {
                result.fate = .harnessFault(reason: fault.flag)
                result.notes = [fault.description]
                if case .unavailable = fault { result.isUnavailable = true }
            } else {
                if expected != .completes {
                    violate("it was to end in a \(expected.rawValue), and it completed", &result)
                }
                result.figures += figures(hang: nil, elapsedNs: elapsedNs)
            }
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
            let isOther = hang.kind == .deadlock && !cycle.isEmpty && Self.turned(cycle) != Self.turned(hang.cycle)
            result.notes = [hang.sentence]
            if !hang.isExpected {
                result.fate = .hang
            } else if isOther {
                hang.isExpected = false
                violate(
                    "it deadlocked otherwise than the scenario says: \(hang.cycle.joined(separator: ", ")) instead of "
                        + cycle.joined(separator: ", "), &result)
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
