// Parses limits: `metric: "< 0.2"`, `metric.statistic: "<= 50us"`, a map that restricts a limit to sweep points, or a
// list of these.
import TidegaugeSpec

extension ScenarioReader {
    mutating func readLimits(_ node: YAMLNode, measured: [Metric]) -> [Limit] {
        let expected = "'limits' expects a map such as '{ upkeep_exponent: \"< 0.2\" }'"
        guard let entries = entries(of: node, expected) else { return [] }
        let count = entries.reduce(0) { count, entry in
            if case .sequence(let nodes) = entry.value.content { count + nodes.count } else { count + 1 }
        }
        guard count <= Self.maximumLimits else {
            problems.add(node.position, "there are more than \(Self.maximumLimits) limits; remove some")
            return []
        }
        return entries.flatMap { readLimit($0, measured: measured) }
    }

    /// Maximum number of limits. Each is checked at points of several profiles.
    private static let maximumLimits = 1_000

    private mutating func readLimit(_ entry: YAMLNode.Entry, measured: [Metric]) -> [Limit] {
        // The name of a counter of an engine contains a dot.
        let prefix = Metric.openPrefixes.first(where: entry.key.hasPrefix) ?? ""
        let parts = entry.key.dropFirst(prefix.count)
            .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let metric = metric(prefix + parts[0], at: entry.position, measured: measured) else { return [] }
        if parts.count == 2, !Limit.statistics.contains(parts[1]) {
            refuse("statistic", parts[1], at: entry.position, among: Limit.statistics)
            return []
        }
        let statistic = parts.count == 2 ? parts[1] : nil
        if let statistic, !metric.statistics.contains(where: { $0.rawValue == statistic }) {
            let known = metric.statistics.map(\.rawValue).joined(separator: ", ")
            problems.add(entry.position, "'\(metric.rawValue)' has no \(statistic) (it has: \(known))")
            return []
        }
        // A list contains several limits on one metric, at different points.
        let nodes = if case .sequence(let nodes) = entry.value.content { nodes } else { [entry.value] }
        if nodes.isEmpty { problems.add(entry.value.position, "the limit on '\(entry.key)' is an empty list") }
        return nodes.compactMap { node in
            guard case .mapping(let fields) = node.content else {
                return limit(node, metric, statistic, at: [:], key: entry.key)
            }
            return readRestricted(fields, of: node, metric, statistic, key: entry.key)
        }
    }

    private mutating func readRestricted(
        _ fields: [YAMLNode.Entry], of node: YAMLNode, _ metric: Metric, _ statistic: String?, key: String
    ) -> Limit? {
        for field in fields where !["at", "limit"].contains(field.key) { refuseUnknown(field, among: ["at", "limit"]) }
        var at: [String: String] = [:]
        if let field = fields.first(where: { $0.key == "at" }) {
            guard let point = readPoint(field.value) else { return nil }
            at = point
            if metric.isOverSweep {
                problems.add(
                    field.position, "'\(metric.rawValue)' is a figure over the whole sweep; its limit takes no 'at'")
            }
        }
        guard let field = fields.first(where: { $0.key == "limit" }) else {
            problems.add(node.position, "the limit on '\(key)' misses its 'limit', such as '{ limit: \"<= 50us\" }'")
            return nil
        }
        guard let limit = limit(field.value, metric, statistic, at: at, key: key) else { return nil }
        limitPlaces[limit] = fields.first { $0.key == "at" }?.value.position
        return limit
    }

    private mutating func limit(
        _ node: YAMLNode, _ metric: Metric, _ statistic: String?, at: [String: String], key: String
    ) -> Limit? {
        guard case .scalar(let text, _) = node.content else {
            expected("the limit on '\(key)' expects text such as \"< 0.2\"", at: node)
            return nil
        }
        do throws(ValueFault) {
            let (comparison, bound, yardstick) = try Limit.condition(text, for: metric, statistic)
            let limit = Limit(metric, statistic: statistic, comparison, bound, yardstick, at: at)
            conditionPlaces[limit] = node.position
            return limit
        } catch {
            problems.add(node.position, "the limit on '\(key)' \(error.message)")
            return nil
        }
    }

    /// Parses `{ dataset.items: 100_000 }` into canonical values by key.
    private mutating func readPoint(_ node: YAMLNode) -> [String: String]? {
        let expected = "'at' expects a map such as '{ dataset.items: 100_000 }'"
        guard let entries = entries(of: node, expected) else { return nil }
        var point: [String: String] = [:]
        let known = Setting.swept.map(\.rawValue)
        for entry in entries {
            guard let setting = Setting(rawValue: entry.key), setting.row.isSwept else {
                refuseUnknown(entry, among: known)
                return nil
            }
            guard let value = value(entry.value, of: setting) else { return nil }
            point[entry.key] = value.text
        }
        return point
    }
}

extension Limit {
    private static let yardsticks = Yardstick.allCases.map(\.rawValue).joined(separator: ", ")

    /// Statistics that may follow the metric and a dot.
    static let statistics = Statistic.allCases.map(\.rawValue)

    /// Parses a condition such as `< 0.2`, `<= 50us` or `>= 190/s`. A time other than 0 needs a unit. With a
    /// yardstick: `<= 4 raw_commit` for a time, `>= 2 per raw_commit` for a rate.
    static func condition(
        _ text: String, for metric: Metric, _ statistic: String?
    ) throws(ValueFault) -> (comparison: Comparison, bound: Double, yardstick: Yardstick?) {
        let wanted = "a comparison and a value, such as \"< 0.2\""
        // Operators with two characters come first in the list of cases.
        guard let comparison = Comparison.allCases.first(where: { text.hasPrefix($0.rawValue) }) else {
            throw ValueFault("expects \(wanted), found '\(Quantity.clipped(text))' (one of < <= > >= ==)")
        }
        let sign = text.prefix { "<>=!~≤≥≠".contains($0) }
        guard sign == comparison.rawValue else {
            throw ValueFault("has the unknown operator '\(Quantity.clipped(sign))' (one of < <= > >= ==)")
        }
        let rest = text.dropFirst(comparison.rawValue.count).drop { $0 == " " }
        guard !rest.isEmpty else { throw ValueFault("has no value behind '\(comparison.rawValue)'") }
        let unit = metric.unit(of: statistic ?? metric.defaultStatistic)
        let words = rest.split(separator: " ")
        if let last = words.last, let yardstick = Yardstick(rawValue: String(last)) {
            guard unit.isTime || unit.isRate else {
                let name = metric.rawValue + (statistic.map { ".\($0)" } ?? "")
                throw ValueFault("compares with the time of \(last), and '\(name)' is no time and no rate")
            }
            guard words.count == (unit.isRate ? 3 : 2), !unit.isRate || words[1] == "per" else {
                let form = unit.isRate ? "2 per \(last)" : "4 \(last)"
                throw ValueFault("expects '\(comparison.rawValue) \(form)', found '\(Quantity.clipped(text))'")
            }
            return (comparison, try Quantity.number(String(words[0])), yardstick)
        }
        if words.count > 1, let last = words.last.map(String.init), unit.isTime || unit.isRate,
            let near = Nearest.nearest(to: last, among: Yardstick.allCases.map(\.rawValue))
        {
            throw ValueFault("has the unknown unit '\(Quantity.clipped(last))' (did you mean '\(near)'?)")
        }
        let value = String(rest)
        if let number = try? Quantity.number(value) {
            guard !unit.isTime || number == 0 else {
                throw ValueFault(
                    "needs a unit: \(comparison.rawValue) \(value)us (or ns, ms, s, or a yardstick: \(Self.yardsticks))"
                )
            }
            return (comparison, number, nil)
        }
        if unit.isTime {
            return (comparison, Double(try Quantity.durationNs(value, or: ", or a yardstick: \(Self.yardsticks)")), nil)
        }
        if unit == .commitsPerSecond { return (comparison, try Quantity.rateHz(value), nil) }
        return (comparison, try Quantity.number(value), nil)
    }
}
