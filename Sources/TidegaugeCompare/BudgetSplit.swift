// How a budget is divided between looking at everybody and confirming who stands out. Chosen once, before any figure is
// looked at: from how long pairs take and how many gates there are. Under the null, which of a pair's processes is the head
// decides neither, so the choice is as likely for any signs of the differences, and α is what it is in each branch. Pure.
import TidegaugeStatistics

enum BudgetSplit: Sendable, Equatable {
    /// Screen until then, counted from the start; what is left confirms the hits on fresh pairs, with all of α.
    case staged(screenSeconds: Double)
    /// Too little to do both: every gate gets the same number of pairs, no pair chooses among gates,
    /// nobody looks before the end, and then all are judged at once (Holm over all gates).
    case direct

    /// Of a budget that is not short, what screening may take while somebody is to be confirmed: the rest is set aside.
    static let screeningShare = 0.6
    /// As many as one gate needs to be red, and a pair for accidents.
    static let pairsToConfirmOne = Double(Looks.fewestPairs(gates: 1) + 1)

    /// - Parameter secondsPerPair: the mean over gates.
    init(budgetSeconds: Double, gates: Int, secondsPerPair: Double) {
        let pairs = secondsPerPair > 0 ? budgetSeconds / secondsPerPair : .infinity
        let toConfirm = Double(Looks.fewestPairs(gates: 1))
        let canDecideDirectly = pairs >= Double(gates * Looks.fewestPairs(gates: gates))
        // Whom to confirm may be chosen by any rule, since fresh pairs decide: a screen of one pair each will do, where what
        // is left is enough for one gate.
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
