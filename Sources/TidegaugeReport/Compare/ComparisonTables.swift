// pairs.csv and effects.csv: the figures of all pairs on both sides, and the judgements on them. Counts are in neither.
// Pure.
import TidegaugeCompare

enum PairsCSV {
    static let fileName = "pairs.csv"
    static let columns = [
        "schema_version", "scenario", "driver", "variant", "stage", "pair", "at_s", "first", "void", "metric",
        "statistic", "base", "head", "ln_ratio", "base_outcome", "head_outcome", "base_steal", "head_steal",
        "base_hiccup_p99_ns", "head_hiccup_p99_ns",
    ]

    /// Returns a line per point and figure of either side.
    static func lines(_ record: PairRecord, _ plan: ComparisonPlan) -> String {
        let subject = plan.subjects[record.subject]
        return record.points.map { point in
            let names = Set((point.base.values + point.head.values).map(\.name)).sorted()
            return names.map { name in
                let (base, head) = (point.base.value(name), point.head.value(name))
                let criterion = Criterion(metric: name.metric, statistic: name.statistic)
                var ratio: Double?
                if let base, let head { ratio = criterion.worsening(base: base, head: head) }
                if criterion.worse == .less { ratio = ratio.map { -$0 } }
                return CSV.line([
                    "1", subject.scenario, subject.driver, point.variant, record.stage.rawValue, "\(record.number)",
                    number(record.atSeconds, digits: 3), point.headFirst ? "head" : "base", record.void ?? "",
                    name.metric, name.statistic, MetricsCSV.value(base, unit: criterion.unit),
                    MetricsCSV.value(head, unit: criterion.unit), number(ratio), outcome(point.base),
                    outcome(point.head), number(point.base.noise?.stealShare), number(point.head.noise?.stealShare),
                    MetricsCSV.value(point.base.noise?.hiccupP99Ns.map(Double.init), unit: "ns"),
                    MetricsCSV.value(point.head.noise?.hiccupP99Ns.map(Double.init), unit: "ns"),
                ])
            }.joined()
        }.joined()
    }

    private static func outcome(_ trial: SideTrial) -> String { trial.fate.flag?.text ?? "completed" }

    static func number(_ value: Double?, digits: Int = 6) -> String {
        guard let value, value.isFinite else { return MetricsCSV.missing }
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        return "\((value * scale).rounded() / scale)"
    }
}

enum EffectsCSV {
    static let columns = [
        "schema_version", "base", "head", "scenario", "driver", "variant", "metric", "statistic", "unit", "gate",
        "verdict", "remark", "base_median", "head_median", "change", "low", "high", "threshold", "detectable", "pairs",
        "p_value", "q_value", "pairs_to_decide", "merged_change", "merged_low", "merged_high", "scale",
    ]

    static func render(_ judged: JudgedComparison) -> String {
        let plan = judged.record.plan
        return CSV.line(columns)
            + judged.rows.map { row in
                CSV.line([
                    "1", plan.base.label, plan.head.label, row.scenario, row.driver, row.variant, row.name.metric,
                    row.name.statistic, row.unit, row.isGate ? "true" : "false", row.verdict.rawValue, row.remark,
                    MetricsCSV.value(row.base, unit: row.unit), MetricsCSV.value(row.head, unit: row.unit),
                    PairsCSV.number(row.change), PairsCSV.number(row.low), PairsCSV.number(row.high),
                    PairsCSV.number(row.threshold), PairsCSV.number(row.detectable), "\(row.pairs)",
                    PairsCSV.number(row.pValue, digits: 9), PairsCSV.number(row.qValue, digits: 9),
                    row.pairsToDecide.map { "\($0)" } ?? "", PairsCSV.number(row.merged?.change),
                    PairsCSV.number(row.merged?.low), PairsCSV.number(row.merged?.high),
                    row.isDifference ? "difference" : "share",
                ])
            }.joined()
    }
}

extension ComparedSide {
    /// Label in a table: the abbreviated commit if known, marked if there are uncommitted changes.
    public var label: String { commit.isEmpty ? name : String(commit.prefix(12)) + (isDirty ? " with changes" : "") }
}
