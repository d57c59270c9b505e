// Every value of a scenario that a profile, a sweep or `--set` may change, in one table: its key, its kind, its default.
// Reading, sweeping, overriding and naming of sweep points all go by this table. Values only.

/// A value of a scenario by its key path.
public enum Setting: String, CaseIterable, Sendable, Codable {
    case durability
    case items = "dataset.items"
    case groups = "dataset.groups"
    case primaryKeys = "dataset.keys"
    case links = "dataset.links"
    case neighbour = "dataset.neighbour"
    case observerCount = "observers.count"
    case queries = "observers.queries"
    case match = "observers.match"
    case sort = "observers.sort"
    case deliver = "observers.deliver"
    case observerThreads = "observers.threads"
    case bystanders = "observers.bystanders"
    case work = "observers.work"
    case calls = "observers.calls"
    case subscribe = "observers.subscribe"
    case audit = "observers.audit"
    case pins = "observers.pins"
    case operators = "observers.operators"
    case churn = "observers.churn"
    case writerThreads = "writers.threads"
    case process = "writers.process"
    case load = "writers.load"
    case wait = "writers.wait"
    case rate = "writers.rate"
    case arrivals = "writers.arrivals"
    case burst = "writers.burst"
    case onTime = "writers.on_time"
    case offTime = "writers.off_time"
    case trace = "writers.trace"
    case change = "writers.change"
    case rowsPerCommit = "writers.rows_per_commit"
    case keys = "writers.keys"
    case zipfExponent = "writers.zipf_exponent"
    case hotKeys = "writers.hot_keys"
    case hotCommits = "writers.hot_commits"
    case fault = "fault.kind"
    case faultAt = "fault.at"
    case faultLength = "fault.length"
    case faultAmount = "fault.amount"
    case faultEvery = "fault.every"
    case search
    case seed
    case warmUp = "warm_up"
    case duration
    case repetitions = "repeat"
    case hangTimeout = "hang_timeout"

    /// `dataset`, `observers`, `writers`, `fault`, or nil for a key at the top.
    var section: String? {
        rawValue.contains(".") ? String(rawValue.prefix { $0 != "." }) : nil
    }

    /// The key inside its section.
    var key: String { section.map { String(rawValue.dropFirst($0.count + 1)) } ?? rawValue }

    /// A sweep varies what is asked of a store, not how long or how often it is asked.
    var canBeSwept: Bool {
        switch self {
        case .search, .seed, .warmUp, .duration, .repetitions, .hangTimeout: false
        default: true
        }
    }
}

/// What may be written for a setting.
enum SettingKind {
    case word([String])
    case integer(ClosedRange<Int>)
    /// Greater than 0, at most 1.
    case share
    case durationNs(ClosedRange<Int64>)
    /// Greater than 0, at most the bound.
    case rateHz(Double)
    case number(ClosedRange<Double>)
    /// The name of a file that lies beside the scenario's.
    case file
    case changes
}

/// One value, of the kind its setting has.
enum SettingValue: Hashable, Sendable {
    case word(String)
    case integer(Int)
    case share(Double)
    case durationNs(Int64)
    case rateHz(Double)
    case number(Double)
    case file(String)
    /// Kinds of change and their weights.
    case changes([String: Double])

    /// The one way to write it: what stands in a variant. Reads back as the same value.
    var text: String {
        switch self {
        case .word(let word): word
        case .integer(let value): String(value)
        case .share(let value): Quantity.text(value)
        case .durationNs(let value): Quantity.text(durationNs: value)
        case .rateHz(let value): Quantity.text(rateHz: value)
        case .number(let value): Quantity.text(value)
        case .file(let name): name
        case .changes(let weights):
            weights.count == 1
                ? weights.keys.first!
                : weights.sorted { $0.key < $1.key }.map { "\($0.key):\(Quantity.text($0.value))" }
                    .joined(separator: "+")
        }
    }
}

extension Setting {
    var kind: SettingKind {
        switch self {
        case .durability: .word(["full", "relaxed", "memory"])
        case .items: .integer(1...100_000_000)
        case .groups, .observerCount, .bystanders: .integer(0...1_000_000)
        case .links: .integer(0...DatasetSpec.maximumLinks)
        case .neighbour: .word(DatasetSpec.Neighbour.allCases.map(\.rawValue))
        case .audit: .word(ObserversSpec.Audit.allCases.map(\.rawValue))
        case .pins: .integer(0...1_000)
        case .operators, .churn: .integer(0...1_000)
        case .process: .word(WritersSpec.Process.allCases.map(\.rawValue))
        case .wait: .word(WritersSpec.Wait.allCases.map(\.rawValue))
        case .onTime, .offTime: .durationNs(1_000_000...600_000_000_000)
        case .trace: .file
        case .zipfExponent: .number(0.01...10)
        case .hotKeys, .hotCommits: .share
        case .fault: .word(FaultSpec.Kind.allCases.map(\.rawValue))
        case .faultAt: .durationNs(0...3_600_000_000_000)
        case .faultLength: .durationNs(1_000...60_000_000_000)
        case .faultAmount: .number(0...10)
        case .faultEvery: .integer(2...1_000_000_000)
        case .search: .integer(0...20)
        case .primaryKeys: .word(DatasetSpec.Keys.allCases.map(\.rawValue))
        case .queries: .word(ObserversSpec.Queries.allCases.map(\.rawValue))
        case .match: .share
        case .sort: .word(ObserversSpec.Sort.allCases.map(\.rawValue))
        case .deliver: .word(ObserversSpec.Deliver.allCases.map(\.rawValue))
        case .observerThreads, .writerThreads: .integer(1...1_024)
        case .work: .durationNs(0...10_000_000_000)
        case .calls: .word(ObserversSpec.Calls.allCases.map(\.rawValue))
        case .subscribe: .word(ObserversSpec.Subscribe.allCases.map(\.rawValue))
        case .load: .word(WritersSpec.Load.words)
        case .rate: .rateHz(10_000_000)
        case .arrivals: .word(WritersSpec.Arrivals.allCases.map(\.rawValue))
        case .burst: .integer(1...10_000_000)
        case .change: .changes
        case .rowsPerCommit: .integer(1...10_000_000)
        case .keys: .word(WritersSpec.Keys.allCases.map(\.rawValue))
        case .seed: .integer(0...(1 << 53))
        case .warmUp: .durationNs(0...3_600_000_000_000)
        case .duration: .durationNs(1_000_000...86_400_000_000_000)
        case .repetitions: .integer(1...1_000)
        case .hangTimeout: .durationNs(10_000_000...3_600_000_000_000)
        }
    }

    /// What holds where no file, profile or option says otherwise; nil for what must be said (`dataset.items`,
    /// `duration`), what has a meaning only together with another key (`writers.rate`, `writers.burst`, what belongs to
    /// one kind of fault), and what follows another one (`dataset.groups`, as many as there are bystanders).
    var defaultValue: SettingValue? {
        switch self {
        case .items, .groups, .duration, .rate, .burst, .onTime, .offTime, .trace: nil
        case .faultAt, .faultLength, .faultAmount, .faultEvery: nil
        case .links, .pins, .operators, .churn, .search: .integer(0)
        case .neighbour: .word(DatasetSpec.Neighbour.none.rawValue)
        case .audit: .word(ObserversSpec.Audit.none.rawValue)
        case .process: .word(WritersSpec.Process.same.rawValue)
        case .wait: .word(WritersSpec.Wait.return.rawValue)
        case .zipfExponent: .number(1)
        case .hotKeys: .share(0.01)
        case .hotCommits: .share(0.9)
        case .fault: .word(FaultSpec.Kind.none.rawValue)
        case .durability: .word("memory")
        case .observerCount: .integer(1)
        case .queries: .word(ObserversSpec.Queries.same.rawValue)
        case .match: .share(0.5)
        case .sort: .word(ObserversSpec.Sort.scoreDescending.rawValue)
        case .deliver: .word(ObserversSpec.Deliver.runLoop.rawValue)
        case .observerThreads, .writerThreads, .rowsPerCommit, .repetitions, .seed: .integer(1)
        case .bystanders: .integer(0)
        case .primaryKeys: .word(DatasetSpec.Keys.ascending.rawValue)
        case .calls: .word(ObserversSpec.Calls.none.rawValue)
        case .subscribe: .word(ObserversSpec.Subscribe.idle.rawValue)
        case .work: .durationNs(0)
        case .load: .word(WritersSpec.Load.open.rawValue)
        case .arrivals: .word(WritersSpec.Arrivals.uniform.rawValue)
        case .change: .changes([WritersSpec.ChangeKind.updateScore.rawValue: 1])
        case .keys: .word(WritersSpec.Keys.uniform.rawValue)
        case .warmUp: .durationNs(500_000_000)
        case .hangTimeout: .durationNs(5_000_000_000)
        }
    }
}
