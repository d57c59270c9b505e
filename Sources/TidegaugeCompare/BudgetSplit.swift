// Division of a budget between screening all gates and confirming the candidates. A gate is the figure by which a
// scenario compares commits. The division is chosen once, from the length of pairs and the number of gates. Under the
// null hypothesis neither depends on which side of a pair is the head, so α holds in each branch. Pure.
import TidegaugeStatistics

enum BudgetSplit: Sendable, Equatable {
    /// Screening may end from this time after the start. The rest confirms candidates on fresh pairs, with all of α.
    case staged(screenSeconds: Double)
    /// Too short for both stages: gates get pairs in rounds, there is no selection and no early look, and at the end
    /// they are judged at once (Holm).
    case direct

    /// Share of a sufficient budget that screening may take; the rest is reserved for confirmation.
    static let screeningShare = 0.6
    /// Minimum number of pairs that one gate needs to be red, plus one spare.
    static let pairsToConfirmOne = Double(Looks.fewestPairs(gates: 1) + 1)

    /// - Parameter secondsPerPair: mean over gates.
    init(budgetSeconds: Double, gates: Int, secondsPerPair: Double) {
        let pairs = secondsPerPair > 0 ? budgetSeconds / secondsPerPair : .infinity
        let toConfirm = Double(Looks.fewestPairs(gates: 1))
        let canDecideDirectly = pairs >= Double(gates * Looks.fewestPairs(gates: gates))
        // Candidates may be selected by any rule, because fresh pairs decide. A screen of one pair each suffices if
        // the rest is enough for one gate.
        let leastScreen = pairs - Self.pairsToConfirmOne
        if pairs * (1 - Self.screeningShare) >= toConfirm {
            self = .staged(screenSeconds: budgetSeconds * Self.screeningShare)
        } else if canDecideDirectly || leastScreen < Double(gates) {
            self = .direct
        } else {
            self = .staged(screenSeconds: leastScreen * secondsPerPair)
        }
    }
}
