// How a choreography ended against how it was to end. Pure.
import Measure
import Scenario
import Trials

extension ChoreographyTrial {
    struct Verdict {
        let spec: TrialSpec
        let expected: Choreography.Ending
        let cycle: [String]

        init(_ spec: TrialSpec, _ expected: Choreography.Ending, _ cycle: [String]) {
            self.spec = spec
            self.expected = expected
            self.cycle = cycle
        }

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
            } else if let fault {
                result.fate = .harnessFault(reason: fault.flag)
                result.notes = [fault.description]
                if case .unavailable = fault { result.isUnavailable = true }
            } else {
                if expected != .completes {
                    violate("it was to end in a \(expected.rawValue), and it completed", &result)
                }
                result.figures.append(Figure(.choreographyTime, .value, Double(elapsedNs), n: 1))
            }
            return result
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
            if hang.kind == .deadlock {
                result.figures.append(Figure(.hangDetectionTime, .value, Double(hang.afterNs), n: 1))
            }
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
