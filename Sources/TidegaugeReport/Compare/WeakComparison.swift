// Compares two finished runs. Trials of the same repetition are paired, but ran at different times. So the result is
// never a regression, only a hint to compare the commits. Pure.
import TidegaugeCompare
import TidegaugeSpec
import TidegaugeStatistics

enum WeakComparison {
    /// Returns the rows of the gates that both runs have.
    static func rows(base: RunRecord, head: RunRecord) -> [ComparedRow] {
        let gates = Dictionary(
            head.header.scenarios.map { ($0.name, $0.gate) }, uniquingKeysWith: { first, _ in first })
        let before = figures(base)
        let after = figures(head)
        let keys = after.keys.sorted {
            ($0.scenario, $0.driver, $0.variant, $0.name) < ($1.scenario, $1.driver, $1.variant, $1.name)
        }
        return keys.compactMap { key -> ComparedRow? in
            guard let old = before[key], let new = after[key], let metric = Metric(rawValue: key.name.metric),
                metric.entry.subject == .store
            else { return nil }
            guard gates[key.scenario] == metric, key.name.statistic == metric.defaultStatistic else { return nil }
            return row(key, old, new)
        }
    }

    private struct Key: Hashable {
        var scenario: String
        var driver: String
        var variant: String
        var name: FigureName
    }

    /// Values by repetition.
    private static func figures(_ record: RunRecord) -> [Key: [Int: Double]] {
        var figures: [Key: [Int: Double]] = [:]
        for row in record.rows where row.variant != RunRow.overSweep {
            guard let value = row.figure.value, !["count", "min", "max"].contains(row.figure.statistic.rawValue) else {
                continue
            }
            let name = FigureName(row.figure.metric.rawValue, row.figure.statistic.rawValue)
            figures[
                Key(scenario: row.scenario, driver: row.driver, variant: row.variant, name: name), default: [:]][
                    row.trial] = value
        }
        return figures
    }

    private static func row(_ key: Key, _ old: [Int: Double], _ new: [Int: Double]) -> ComparedRow {
        let trials = Set(old.keys).intersection(new.keys).sorted()
        let criterion = Criterion(metric: key.name.metric, statistic: key.name.statistic)
            .fitting(trials.flatMap { [old[$0]!, new[$0]!] })
        let effect = PairedEffect(trials.compactMap { criterion.worsening(base: old[$0]!, head: new[$0]!) })
        var row = ComparedRow(
            scenario: key.scenario, driver: key.driver, variant: key.variant, name: key.name, criterion: criterion,
            isGate: true, pairs: effect?.pairs ?? 0)
        (row.base, row.head) = (median(old.values), median(new.values))
        guard let effect else { return row }
        row.change = criterion.change(effect.estimate)
        row.pValue = effect.pWorse
        row.detectable = effect.detectable.map { abs(criterion.change($0)) }
        let isSuspect = abs(effect.estimate) > criterion.delta
        row.remark = isSuspect ? "compare the commits" : ""
        row.verdict = isSuspect ? .inconclusive : .unchanged
        return row
    }
}

extension ComparisonConsole {
    /// Suggests the command that compares the commits, if the runs know them and they differ.
    private static func remedy(_ base: RunRecord, _ head: RunRecord) -> String {
        let commits = [base, head].map { String($0.environment.commit.prefix(12)) }
        guard commits.allSatisfy({ $0.first?.isHexDigit ?? false && $0.allSatisfy(\.isHexDigit) }) else {
            return "use tidegauge compare with the two commits or binaries (a run was made outside of a repository)"
        }
        guard commits[0] != commits[1] else { return "both are of the commit \(commits[0])" }
        return "use tidegauge compare \(commits[0]) \(commits[1])"
    }

    /// Returns the comparison of two successive runs as text.
    static func weak(_ rows: [ComparedRow], _ base: RunRecord, _ head: RunRecord) -> String {
        var lines = [
            "\(base.runID) → \(head.runID): finished runs, one after the other. What the machine did in between is in "
                + "one side alone, and about one such comparison in four sees a change that is none. Nothing here is a "
                + "regression; \(remedy(base, head)).", "",
        ]
        if base.environment.cpuModel != head.environment.cpuModel || base.environment.cores != head.environment.cores {
            lines.insert("the machines differ: \(base.environment.cpuModel), \(head.environment.cpuModel)", at: 1)
        }
        lines += ComparedCells.aligned(rows.filter { $0.isGate || $0.remark.isEmpty }, columns: nil)
        lines += rows.filter { !$0.remark.isEmpty }.map { "! \(ComparedCells($0).what): \($0.remark)" }
        return lines.joined(separator: "\n") + "\n"
    }
}
