// Names of metrics: those of `FixedMetric`, and the open names of counters that an engine keeps.

/// A metric, by its name in files and reports.
public enum Metric: Hashable, Sendable, Codable, CaseIterable {
    case fixed(FixedMetric)
    /// A counter of the engine per commit, such as `engine.rows_read`.
    case engine(counter: String)
    /// Exponent of such a counter over the number of rows, such as `engine_exponent.rows_read`.
    case engineExponent(counter: String)

    /// The metrics with a fixed name, in the order of tables.
    public static let allCases = FixedMetric.allCases.map(Metric.fixed)

    private static let prefix = "engine."
    private static let exponentPrefix = "engine_exponent."
    /// Beginnings of open names. Each contains the first dot of a limit; the statistic follows the second.
    package static let openPrefixes = [prefix, exponentPrefix]
    /// Regular expression of a counter's name.
    package static let counterPattern = "[a-z][a-z0-9_]*"
    private static let longestCounter = 40

    /// Name in files and reports.
    public var rawValue: String {
        switch self {
        case .fixed(let metric): metric.rawValue
        case .engine(let counter): Self.prefix + counter
        case .engineExponent(let counter): Self.exponentPrefix + counter
        }
    }

    public init?(rawValue name: String) {
        if let metric = FixedMetric(rawValue: name) {
            self = .fixed(metric)
        } else if name.hasPrefix(Self.prefix), Self.isCounter(name.dropFirst(Self.prefix.count)) {
            self = .engine(counter: String(name.dropFirst(Self.prefix.count)))
        } else if name.hasPrefix(Self.exponentPrefix), Self.isCounter(name.dropFirst(Self.exponentPrefix.count)) {
            self = .engineExponent(counter: String(name.dropFirst(Self.exponentPrefix.count)))
        } else {
            return nil
        }
    }

    /// Whether a text can name a counter: at most 40 lower-case letters, digits and underscores, a letter first.
    public static func isCounter(_ name: some StringProtocol) -> Bool {
        let isMadeOfThese = name.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F
        }
        return isMadeOfThese && name.utf8.count <= longestCounter && name.first?.isLetter == true
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// Static facts of the metric.
    public var entry: MetricEntry {
        switch self {
        case .fixed(let metric): metric.entry
        case .engine(let counter): Self.entry(ofCounter: counter)
        case .engineExponent(let counter): Self.entry(ofExponent: counter)
        }
    }

    private static func entry(ofCounter name: String) -> MetricEntry {
        .init(
            .countsPerCommit, .access,
            "growth of the engine's own counter `\(name)` from before the first commit of the warm-up until everything "
                + "has been delivered, per commit; every trial of an engine with counters has it")
    }

    private static func entry(ofExponent name: String) -> MetricEntry {
        .init(
            .one, .access, from: .sweep(over: [.items]), takes: [.engine(counter: name)],
            "β as in `upkeep_exponent`, for `engine.\(name)`; every sweep over `dataset.items` has it")
    }

    /// Rows of the open names in tables of metrics.
    public static let families: [(name: String, entry: MetricEntry)] = [
        (prefix + "NAME", entry(ofCounter: "NAME")), (exponentPrefix + "NAME", entry(ofExponent: "NAME")),
    ]

    /// Whether the metric is made of a counter of the engine. It is measured also if a scenario does not ask for it.
    public var isOfEngine: Bool {
        switch self {
        case .fixed: false
        case .engine, .engineExponent: true
        }
    }

    /// The metric of the exponent of this counter of the engine; nil for other metrics.
    package var exponent: Metric? {
        switch self {
        case .engine(let counter): .engineExponent(counter: counter)
        case .fixed, .engineExponent: nil
        }
    }

    /// Returns metrics in the order of tables: open names last, sorted.
    package static func ordered(_ metrics: Set<Metric>) -> [Metric] {
        allCases.filter(metrics.contains) + metrics.filter(\.isOfEngine).sorted { $0.rawValue < $1.rawValue }
    }
}

// Constants of the metrics with a fixed name.
extension Metric {
    public static let scheduleDelay = Metric.fixed(.scheduleDelay)
    public static let scheduleStarted = Metric.fixed(.scheduleStarted)
    public static let missedCommits = Metric.fixed(.missedCommits)
    public static let writeServiceTime = Metric.fixed(.writeServiceTime)
    public static let writeResponseTime = Metric.fixed(.writeResponseTime)
    public static let writerPenalty = Metric.fixed(.writerPenalty)
    public static let lockWait = Metric.fixed(.lockWait)
    public static let deliveryLatency = Metric.fixed(.deliveryLatency)
    public static let lastDeliveryLatency = Metric.fixed(.lastDeliveryLatency)
    public static let endToEndLatency = Metric.fixed(.endToEndLatency)
    public static let writeToCallback = Metric.fixed(.writeToCallback)
    public static let wakeFloor = Metric.fixed(.wakeFloor)
    public static let deliveryOverFloor = Metric.fixed(.deliveryOverFloor)
    public static let callbackTime = Metric.fixed(.callbackTime)
    public static let staleness = Metric.fixed(.staleness)
    public static let versionLag = Metric.fixed(.versionLag)
    public static let coalescingRatio = Metric.fixed(.coalescingRatio)
    public static let batchSpan = Metric.fixed(.batchSpan)
    public static let spuriousNotifications = Metric.fixed(.spuriousNotifications)
    public static let missedFinal = Metric.fixed(.missedFinal)
    public static let timeToFirstDelivery = Metric.fixed(.timeToFirstDelivery)
    public static let observerStall = Metric.fixed(.observerStall)
    public static let fanoutSpan = Metric.fixed(.fanoutSpan)
    public static let fanoutCost = Metric.fixed(.fanoutCost)
    public static let upkeepCost = Metric.fixed(.upkeepCost)
    public static let upkeepExponent = Metric.fixed(.upkeepExponent)
    public static let upkeepGrowth = Metric.fixed(.upkeepGrowth)
    public static let instructionsExponent = Metric.fixed(.instructionsExponent)
    public static let instructionsGrowth = Metric.fixed(.instructionsGrowth)
    public static let upkeepRatio = Metric.fixed(.upkeepRatio)
    public static let upkeepAllocations = Metric.fixed(.upkeepAllocations)
    public static let upkeepBytes = Metric.fixed(.upkeepBytes)
    public static let writerBytes = Metric.fixed(.writerBytes)
    public static let observerBytes = Metric.fixed(.observerBytes)
    public static let engineBytes = Metric.fixed(.engineBytes)
    public static let writerInstructions = Metric.fixed(.writerInstructions)
    public static let upkeepInstructions = Metric.fixed(.upkeepInstructions)
    public static let observerInstructions = Metric.fixed(.observerInstructions)
    public static let engineInstructions = Metric.fixed(.engineInstructions)
    public static let writerAllocations = Metric.fixed(.writerAllocations)
    public static let observerAllocations = Metric.fixed(.observerAllocations)
    public static let writerSystemCalls = Metric.fixed(.writerSystemCalls)
    public static let upkeepSystemCalls = Metric.fixed(.upkeepSystemCalls)
    public static let observerSystemCalls = Metric.fixed(.observerSystemCalls)
    public static let writerReads = Metric.fixed(.writerReads)
    public static let upkeepReads = Metric.fixed(.upkeepReads)
    public static let observerReads = Metric.fixed(.observerReads)
    public static let unsubscribedCost = Metric.fixed(.unsubscribedCost)
    public static let writerCPU = Metric.fixed(.writerCPU)
    public static let upkeepCPU = Metric.fixed(.upkeepCPU)
    public static let observerCPU = Metric.fixed(.observerCPU)
    public static let processCPU = Metric.fixed(.processCPU)
    public static let achievedRate = Metric.fixed(.achievedRate)
    public static let sustainableRate = Metric.fixed(.sustainableRate)
    public static let kneeRate = Metric.fixed(.kneeRate)
    public static let observedRateRatio = Metric.fixed(.observedRateRatio)
    public static let objectRate = Metric.fixed(.objectRate)
    public static let writerShareMin = Metric.fixed(.writerShareMin)
    public static let spaceAmplification = Metric.fixed(.spaceAmplification)
    public static let activeVersions = Metric.fixed(.activeVersions)
    public static let liveBytes = Metric.fixed(.liveBytes)
    public static let residentBytes = Metric.fixed(.residentBytes)
    public static let fileBytes = Metric.fixed(.fileBytes)
    public static let openFiles = Metric.fixed(.openFiles)
    public static let recoveryTime = Metric.fixed(.recoveryTime)
    public static let failedCommits = Metric.fixed(.failedCommits)
    public static let harnessHiccup = Metric.fixed(.harnessHiccup)
    public static let clockUncertainty = Metric.fixed(.clockUncertainty)
    public static let harnessCost = Metric.fixed(.harnessCost)
    public static let voidedTrials = Metric.fixed(.voidedTrials)
    public static let recordingCost = Metric.fixed(.recordingCost)
    public static let recordingBytes = Metric.fixed(.recordingBytes)
    public static let oracleCost = Metric.fixed(.oracleCost)
    public static let faultsCaught = Metric.fixed(.faultsCaught)
    public static let slowdownSeen = Metric.fixed(.slowdownSeen)
    public static let stallSeen = Metric.fixed(.stallSeen)
    public static let oracleViolations = Metric.fixed(.oracleViolations)
    public static let hangDetectionTime = Metric.fixed(.hangDetectionTime)
    public static let interleavingTestTime = Metric.fixed(.interleavingTestTime)
    public static let trialOutcome = Metric.fixed(.trialOutcome)
}
