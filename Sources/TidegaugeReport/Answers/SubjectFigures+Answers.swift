// The five measured answers: latency, staleness, coalescing, upkeep cost, and sustainable rate. Pure.
import TidegaugeMeasure
import TidegaugeSpec

extension SubjectFigures {
    var howFast: Answer {
        if record.header.counter != nil { return counted(.howFast, .writerInstructions, also: .observerInstructions) }
        let all = places(.endToEndLatency, .p50, for: .latency)
        guard let place = all.first else { return .unknown(.howFast, absence(of: .endToEndLatency, .p50)) }
        if let range = Self.range(all) {
            return answer(
                .howFast, range.text, range.highest,
                "median from the scheduled time to the callback: lowest and highest of \(all.count) points")
        }
        let tail = [Statistic.p99, .p90].lazy.compactMap { statistic in
            self.places(.endToEndLatency, statistic, of: place.scenario).first { $0.variant == place.variant }
                .map { "\(statistic.rawValue) \(Digest.cell($0.figures))" }
        }.first
        return answer(
            .howFast, Digest.cell(place.figures), place,
            (["median"] + [tail].compactMap { $0 } + ["scheduled time to callback" + load(place)])
                .joined(separator: " · "))
    }

    /// p99 of staleness, from a scenario with enough commits for a p99.
    var howStale: Answer {
        if record.header.counter != nil { return .unknown(.howStale, Self.untimed) }
        let all = places(.staleness, .p99, for: .staleness)
        guard let place = all.first else { return .unknown(.howStale, absence(of: .staleness, .p99)) }
        if let range = Self.range(all) {
            return answer(
                .howStale, range.text, range.highest,
                "age of the oldest unseen change, p99 over time: lowest and highest of \(all.count) points")
        }
        return answer(
            .howStale, Digest.cell(place.figures), place, "age of the oldest unseen change, p99 over time" + load(place)
        )
    }

    /// Highest coalescing ratio, and that of the steady load used for latency.
    var coalesced: Answer {
        let all = places(.coalescingRatio, .value, for: .coalescing)
        guard let place = all.max(by: { $0.median < $1.median }) else {
            return .unknown(.coalesced, absence(of: .coalescingRatio, .value))
        }
        let rank = all.count > 1 ? ", highest of \(all.count) points" : ""
        var words = ["commits per callback" + rank + load(place)]
        if let steady = places(.endToEndLatency, .p50, for: .latency).first,
            steady.scenario != place.scenario,
            let ratio = places(.coalescingRatio, .value, of: steady.scenario).first(where: {
                $0.variant == steady.variant
            })
        {
            words.append("\(Self.times(ratio.median)) in \(ratio.scenario)")
        }
        return answer(.coalesced, Self.times(place.median), place, words.joined(separator: "; "))
    }

    /// Upkeep cost at the largest and the smallest collection. In a counted run, instructions over all points.
    var upkeep: Answer {
        if record.header.counter != nil { return counted(.upkeep, .upkeepInstructions, also: nil) }
        let all = places(.upkeepCost, .value, for: .upkeep)
        guard let most = all.map(items).max(), let fewest = all.map(items).min(),
            let large = cost(all.filter { items($0) == most })
        else { return .unknown(.upkeep, absence(of: .upkeepCost, .value)) }
        let place = large.highest
        var words = ["CPU per commit at \(Humanised.grouped(most)) rows\(large.remark)"]
        if fewest < most, let small = cost(all.filter { items($0) == fewest }) {
            words.append("\(small.text) at \(Humanised.grouped(fewest))\(small.remark)")
        }
        var meaning = words.joined(separator: "; ")
        if let exponent = places(.upkeepExponent, .value, of: place.scenario).first?.median {
            meaning += " → \(Self.growth(exponent)) (exponent β \(Humanised.text(exponent, unit: "1", digits: 2)))"
        }
        return answer(.upkeep, large.text, place, meaning)
    }

    /// Cost at points with one number of rows: the range if there are several. Nil without points.
    private func cost(_ places: [Place]) -> (text: String, highest: Place, remark: String)? {
        if let range = Self.range(places) {
            return (range.text, range.highest, ", lowest and highest of \(places.count) points")
        }
        return places.first.map { (Digest.headline($0.figures), $0, "") }
    }

    var bendsWhere: Answer {
        if record.header.counter != nil { return .unknown(.bendsWhere, Self.untimed) }
        guard let low = places(.sustainableRate, .low, for: .rate).first else {
            return .unknown(.bendsWhere, absence(of: .sustainableRate, .low))
        }
        let high = places(.sustainableRate, .high, of: low.scenario).first?.median
        let knee = places(.kneeRate, .value, of: low.scenario).first?.median
        let figure = high.map { "\(Self.rate(low.median)) – \(Self.rate($0))/s" } ?? "≥ \(Self.rate(low.median))/s"
        let bend =
            knee.map { "callbacks begin to merge at \(Self.rate($0))/s" }
            ?? "callbacks do not begin to merge within the sweep"
        let kept =
            high.map { "keeps up with \(Self.rate(low.median)) commits/s, fails at \(Self.rate($0))" }
            ?? "keeps up with every rate of the sweep, up to \(Self.rate(low.median)) commits/s"
        return answer(.bendsWhere, figure, low, "\(kept); \(bend)")
    }

    private static let untimed = "a counted run measures no times"

    /// Instructions per commit over all points of one scenario that counted them.
    /// - Parameter other: a second metric that the answer's text names.
    private func counted(_ question: Answer.Question, _ metric: Metric, also other: Metric?) -> Answer {
        let all = places(metric, .value, for: question == .upkeep ? .upkeep : .latency)
        guard let place = all.first else { return .unknown(question, absence(of: metric, .value)) }
        var words = "instructions per commit, \(metric.rawValue)"
        let range = Self.range(all)
        if range != nil { words += ": lowest and highest of \(all.count) points" }
        if let other {
            let others = places(other, .value, of: place.scenario)
            if let one = others.first {
                words += "; \(other.rawValue) \(Self.range(others)?.text ?? Digest.cell(one.figures))"
            }
        }
        return answer(question, range?.text ?? Digest.cell(place.figures), range?.highest ?? place, words)
    }

    /// The lowest and the highest median of several points; nil for fewer than two.
    private static func range(_ places: [Place]) -> (text: String, highest: Place)? {
        let sorted = places.filter { !$0.median.isNaN }.sorted { $0.median < $1.median }
        guard sorted.count > 1, let low = sorted.first, let high = sorted.last else { return nil }
        return (Digest.inOrder([low, high].map { Digest.headline($0.figures) }).joined(separator: " … "), high)
    }

    // MARK: Words

    private func answer(_ question: Answer.Question, _ figure: String, _ place: Place, _ meaning: String) -> Answer {
        Answer(
            question, figure, value: place.median > 0 ? place.median : nil, meaning, from: .scenario(place.scenario),
            tone(place.scenario))
    }

    /// Describes the load: `, 500 commits/s, 10,000 rows`.
    private func load(_ place: Place) -> String {
        guard let spec = spec(place) else { return "" }
        var words: [String] = []
        let writers = spec.writers
        if writers.load == .open, writers.arrivals == .bursts, writers.burst > 1 {
            words.append("in bursts of \(Humanised.grouped(writers.burst))")
        } else if writers.load == .open, writers.arrivals == .trace {
            words.append("at the times of a trace")
        } else if writers.load == .open, writers.rateHz > 0 {
            words.append("\(Humanised.rate(writers.rateHz)) commits/s")
        } else {
            words.append(writers.load == .lockstep ? "nothing else under way" : "closed loop")
        }
        words.append("\(Humanised.grouped(spec.dataset.items)) rows")
        if spec.observers.count > 1 { words.append("\(Humanised.grouped(spec.observers.count)) observers") }
        return words.map { ", " + $0 }.joined()
    }

    private func items(_ place: Place) -> Int { spec(place)?.dataset.items ?? 0 }

    private static func times(_ ratio: Double) -> String { Humanised.text(ratio, unit: "1") + "×" }

    private static func rate(_ perSecond: Double) -> String {
        Humanised.text(perSecond, unit: MetricEntry.Unit.commitsPerSecond.rawValue)
    }

    /// Describes an exponent. Below 0.1 is incremental: less than 60 % growth over two decades.
    private static func growth(_ exponent: Double) -> String {
        switch exponent {
        case ..<0.1: "incremental"
        case ..<0.9: "grows with the collection"
        case ...1.1: "in proportion to the collection"
        default: "faster than the collection"
        }
    }
}
