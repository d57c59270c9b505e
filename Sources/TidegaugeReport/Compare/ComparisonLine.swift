// Lines of comparison.ndjson.
import TidegaugeCompare
import TidegaugeMeasure

/// A line of a comparison's journal: an object with one key, the name of the case.
enum ComparisonLine {
    /// Plan of the comparison. The last one of a journal counts.
    case plan(ComparisonPlan)
    case pair(PairRecord)
    /// Rows of one counted point.
    case counted([CountedRow])
    /// Points that could not be counted. Ends the counting.
    case uncounted([OneSided])
    case ended(EndRecord)

    var plan: ComparisonPlan? {
        if case .plan(let plan) = self { plan } else { nil }
    }

    /// Whether its numbers lie in the range that a trial can produce.
    var isPlausible: Bool {
        switch self {
        case .pair(let pair): pair.isPlausible
        case .counted(let rows): rows.allSatisfy(\.isPlausible)
        case .plan, .uncounted, .ended: true
        }
    }

    func text() throws -> String { try JSONLines.text(self) }
}

extension ComparisonLine: Codable {
    private enum Key: String, CodingKey { case plan, pair, counted, uncounted, ended }

    init(from decoder: any Decoder) throws {
        let line = try decoder.container(keyedBy: Key.self)
        switch try line.onlyKey() {
        case .plan: self = .plan(try line.decode(ComparisonPlan.self, forKey: .plan))
        case .pair: self = .pair(try line.decode(PairRecord.self, forKey: .pair))
        case .counted: self = .counted(try line.decode([CountedRow].self, forKey: .counted))
        case .uncounted: self = .uncounted(try line.decode([OneSided].self, forKey: .uncounted))
        case .ended: self = .ended(try line.decode(EndRecord.self, forKey: .ended))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: Key.self)
        switch self {
        case .plan(let plan): try line.encode(plan, forKey: .plan)
        case .pair(let pair): try line.encode(pair, forKey: .pair)
        case .counted(let rows): try line.encode(rows, forKey: .counted)
        case .uncounted(let points): try line.encode(points, forKey: .uncounted)
        case .ended(let end): try line.encode(end, forKey: .ended)
        }
    }
}
