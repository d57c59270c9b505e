// The spec of one trial, which its process reads as versioned JSON. `compare` sends it to the binaries of two commits.
// Names include units. The rows of `Setting` in `TidegaugeScenario` define what the keys of a scenario mean.

/// One trial: a scenario at one point of its sweep, on one driver, with one seed.
public struct TrialSpec: Codable, Sendable, Equatable {
    /// Spec version. A binary refuses specs of another version.
    public static let currentVersion = 15
    /// The oldest version that specs are encoded for: the version of commit 0f28f9de.
    package static let oldestVersion = 12
    /// Keys that `oldestVersion` does not know, each with the version that introduced it. `text` returns the value as
    /// text if it is not the default.
    static let youngerKeys: YoungerKeys = [(.condition, 15, { $0.observers.condition })]
    typealias YoungerKeys = [(key: Setting, since: Int, text: @Sendable (TrialSpec) -> String?)]
    /// Default values, from which every sweep point starts.
    package static let blank = TrialSpec()

    public var specVersion = TrialSpec.currentVersion
    public var scenario = ""
    /// SHA-256 of the scenario file, of the files that it extends, and of its traces; hexadecimal.
    public var scenarioSHA = ""
    public var driver = ""
    /// The sweep point, keys sorted: `dataset.items=100000;observers.count=100`; empty for a scenario without a sweep.
    public var variant = ""
    /// Repetition of this point, from 0.
    public var trial = 0
    public var seed: UInt64 = 0
    public var durability = ""
    public var dataset = DatasetSpec()
    public var observers = ObserversSpec()
    public var writers = WritersSpec()
    /// Names of metrics, as in `Metric`.
    public var measure: [String] = []
    public var warmUpNs: Int64 = 0
    /// Length of the measured window.
    public var durationNs: Int64 = 0
    public var hangTimeoutNs: Int64 = 0
    /// Fault injected into the store, the processes or the harness.
    public var fault = FaultSpec()
    /// Maximum number of commits, and of callbacks, in the result's trace; nil: no trace.
    public var traceEvents: Int?
    /// Interleaving test that is run instead of a load.
    public var interleaving: InterleavingSpec?
    /// Artificial cost of a calibration; nil: none.
    public var shim: Shim?
    /// Time slices shared with the other side of a pair; nil: the trial runs alone.
    public var turns: TurnsSpec?
    /// Commits and queries recorded from an application; nil: `writers` and `observers` define them.
    public var workload: WorkloadSpec?
    /// URL of an existing server, without a password; nil: the driver starts its own server or needs none.
    public var serverURL: String?
    /// Transport to a server that the driver started; nil: Unix socket.
    public var serverTransport: ServerTransport?
    /// Number of additional connections that listen on unused channels; nil: none.
    public var serverListeners: Int?
    /// Number of additional readers of the server's log; nil: none.
    public var serverSlots: Int?
    /// Delay in ns of a standby that every commit waits for; nil: no standby.
    public var serverStandbyNs: Int64?
    /// Settings of a counted trial, which has no measured window; nil: the trial is timed.
    public var count: CountSpec?

    /// Names in JSON. Renamed properties keep the name of spec version 12.
    enum CodingKeys: String, CodingKey {
        case specVersion, scenario, scenarioSHA, driver, variant, trial, seed, durability, dataset, observers, writers
        case measure, warmUpNs, durationNs, hangTimeoutNs, fault, traceEvents, shim, turns, workload
        case serverURL, serverTransport, serverListeners, serverSlots, serverStandbyNs, count
        case interleaving = "choreography"
    }
}

/// Key path of a value in a scenario file. `TidegaugeScenario` has a row for each case.
public enum Setting: String, CaseIterable, Sendable, Codable {
    case durability
    case items = "dataset.items"
    case groups = "dataset.groups"
    case primaryKeys = "dataset.keys"
    case links = "dataset.links"
    case textCharacters = "dataset.text_characters"
    case payloadBytes = "dataset.payload_bytes"
    case tables = "dataset.tables"
    case coTenant = "dataset.co_tenant"
    case observerCount = "observers.count"
    case queries = "observers.queries"
    case match = "observers.match"
    case sort = "observers.sort"
    case deliver = "observers.deliver"
    case observerThreads = "observers.threads"
    case idleQueries = "observers.idle_queries"
    case calls = "observers.calls"
    case subscribe = "observers.subscribe"
    case reads = "observers.reads"
    case condition = "observers.where"
    case audit = "observers.audit"
    case heldSnapshots = "observers.held_snapshots"
    case publisherChainLength = "observers.publisher_chain_length"
    case churn = "observers.churn"
    case besideWriters = "observers.beside_writers"
    case observerHosts = "observers.hosts"
    case writerThreads = "writers.threads"
    case writerHosts = "writers.hosts"
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
    case faultRows = "fault.rows"
    case serverURL = "server.url"
    case serverTransport = "server.transport"
    case serverListeners = "server.listeners"
    case serverSlots = "server.slots"
    case serverStandby = "server.standby"
    case search
    case warmUp = "warm_up"
    case duration
    case repetitions = "repeat"
    case hangTimeout = "hang_timeout"
}

public enum ServerTransport: String, Codable, Sendable, CaseIterable {
    case unix
    case tcp
}

public struct DatasetSpec: Codable, Sendable, Equatable {
    /// Primary keys as the engine stores them. The harness uses integers in both cases.
    public enum Keys: String, Codable, Sendable, CaseIterable {
        /// Integers. New rows get higher keys than the initial ones, and than earlier rows of the same writer.
        case ascending
        /// 16 random bytes.
        case uuid
    }

    /// Other stores that are open in the process.
    public enum CoTenant: String, Codable, Sendable, CaseIterable {
        case none
        /// A second store of the same engine, with its own writer and its own observer.
        case busy
    }

    /// Highest number of links.
    public static let maximumLinks = 4
    /// Highest number of tables, for which drivers have models.
    public static let maximumTables = 8

    /// Number of initial rows that writers choose from, with keys 0 ..< items.
    public var items = 0
    /// Number of additional groups of ten rows that no commit changes. Idle queries watch them.
    public var groups = 0
    public var keys = Keys.ascending
    /// Number of links between the observed rows and the rows that writers change; 0: they are the same rows.
    public var links = 0
    /// Characters of the text in each row, rewritten by every change; nil: none.
    public var textCharacters: Int?
    /// Bytes of the payload in each row, written once at insertion; nil: none.
    public var payloadBytes: Int?
    /// Number of tables. Each row has a counterpart in one of the tables after the first, which is inserted, changed
    /// and deleted with it; nil: one table.
    public var tables: Int?
    public var coTenant = CoTenant.none

    /// Names in JSON. Renamed properties keep the name of spec version 12.
    enum CodingKeys: String, CodingKey {
        case items, groups, keys, links, textCharacters, payloadBytes, tables
        case coTenant = "neighbour"
    }
}

public struct ObserversSpec: Codable, Sendable, Equatable {
    /// The queries that the observers watch.
    public enum Queries: String, Codable, Sendable, CaseIterable {
        /// All watch one query: the `match` share of rows with the highest scores, or, with `sort: list`, the list.
        case same
        /// Observer i of n watches the i-th of n equal score ranges of the `match` share, all in one order.
        case ranges
        /// Observer i of n watches the `match` share except the lowest i/n of its lowest tenth. The result is n score
        /// ranges in one order that share at least nine tenths of their rows.
        case overlapping
        /// Like `overlapping`, by key instead of by score: n filters that the sort order does not help to evaluate.
        case filters
    }
    public enum Sort: String, Codable, Sendable, CaseIterable {
        case none
        case scoreAscending = "score"
        case scoreDescending = "-score"
        /// A list of all rows with an explicit order, which `move` changes.
        case list
    }
    public enum Deliver: String, Codable, Sendable, CaseIterable {
        case runLoop = "run-loop"
        case queue
    }
    /// Call made on the store in the first delivery context after a commit. Commits during a call cause no other.
    public enum Calls: String, Codable, Sendable, CaseIterable {
        case none
        /// Begins a write transaction and cancels it.
        case beginWrite = "begin-write"
        case refresh
    }
    /// Concurrent activity while the observers subscribe and wait for their initial deliveries.
    public enum Subscribe: String, Codable, Sendable, CaseIterable {
        case idle
        /// A writer holds the write lock of an open transaction throughout.
        case locked
        /// No activity. Each observer reads its query on its thread before it subscribes.
        case readFirst = "read-first"
        /// No activity. All observers are cancelled before the first commit.
        case cancelled
    }
    /// Read that each observer makes in each callback. The oracle checks the result.
    public enum Reads: String, Codable, Sendable, CaseIterable {
        case none
        /// Reads a row by its key, in a separate read.
        case lookup
        /// Counts the rows of its query, or those that match `where`, in a separate read.
        case count
        /// Sums a property over all rows of its result.
        case sum
        /// Reads two properties of the first 50 rows of its result.
        case window
        /// Reads a property of every row of its result.
        case iterate
        /// Opens another existing store with as many rows, reads a row and closes it.
        case open
    }
    /// Check that observers make inside their callbacks, besides recording.
    public enum Audit: String, Codable, Sendable, CaseIterable {
        case none
        /// Each commit moves an amount between two rows of its writer. An additional observer in every delivery
        /// context sums all amounts in its callbacks. A sum other than 0 shows a partial transaction.
        case sums
    }

    /// Whether processes that write on other hosts also observe.
    public enum BesideWriters: String, Codable, Sendable, CaseIterable {
        case no = "false"
        case yes = "true"
    }

    public var count = 0
    public var queries = Queries.same
    /// Share of the items that the queries match, in (0, 1]. See `Queries`.
    public var match: Double = 0
    public var sort = Sort.none
    public var deliver = Deliver.runLoop
    public var threads = 0
    public var idleQueries = 0
    /// Always 0. Binaries that read specs of version 12 require this field.
    private(set) var workNs: Int64 = 0
    public var calls = Calls.none
    public var subscribe = Subscribe.idle
    public var audit = Audit.none
    /// nil: no reads.
    public var reads: Reads?
    /// Condition by which `count` counts, as a `ConditionSpec`; nil: none.
    public var condition: String?
    public var heldSnapshots = 0
    public var publisherChainLength = 0
    /// Number of additional observers of the first query that are cancelled and replaced during the load; nil: none.
    public var churn: Int?
    /// nil: they do not observe.
    public var besideWriters: BesideWriters?
    /// Number of hosts that observe, besides the trial's own process; nil: the writing hosts if `besideWriters` is
    /// set, else none.
    public var hosts: Int?

    /// Names in JSON. Renamed properties keep the name of spec version 12.
    enum CodingKeys: String, CodingKey {
        case count, queries, match, sort, deliver, threads, workNs, calls, subscribe, audit, reads, churn, besideWriters
        case hosts, condition
        case idleQueries = "bystanders"
        case heldSnapshots = "pins"
        case publisherChainLength = "operators"
    }
}

public struct WritersSpec: Codable, Sendable, Equatable {
    public enum Load: String, Codable, Sendable, CaseIterable {
        /// Each writer follows its schedule. Latencies count from the due time, so lateness is included.
        case open
        /// Each writer commits as soon as its last commit returned. Times are service times, not latencies.
        case closed
        /// The only writer commits as soon as every observer has been called for its last commit. Spelled `load:
        /// closed` with `wait: delivery` in a scenario file.
        case lockstep
    }
    /// Event that a closed loop waits for before its next commit.
    public enum Wait: String, Codable, Sendable, CaseIterable {
        case `return`
        case delivery
    }
    /// The process that writers run in: the observers' process or a separate one.
    public enum Process: String, Codable, Sendable, CaseIterable {
        case same
        case own
    }
    public enum Arrivals: String, Codable, Sendable, CaseIterable {
        case uniform
        case poisson
        /// `burst` commits at one due time, then a pause that keeps the mean rate.
        case bursts
        /// Poisson arrivals for `on_time`, none for `off_time`, repeatedly. The mean rate is kept.
        case onOff = "on-off"
        /// Due times from a trace file beside the scenario, from the start of the warm-up, dealt to the writers in
        /// turn.
        case trace
    }
    /// Distribution of the rows that commits change. Each writer chooses among its own rows.
    public enum Keys: String, Codable, Sendable, CaseIterable {
        /// All rows of the writer with the same probability.
        case uniform
        /// Rows that match the queries of all observers, before and after: every commit touches these queries.
        case matching
        /// The row of rank r in a random order, with probability proportional to 1 / r^`zipf_exponent`.
        case zipf
        /// A share `hot_keys` of the rows gets a share `hot_commits` of the changes.
        case hot
        /// Like `zipf`, with ranks from the row inserted last to the oldest.
        case latest
    }
    public enum ChangeKind: String, Codable, Sendable, CaseIterable {
        /// A new unique score: the row may move in orders by score, and enter or leave a query.
        case updateScore = "update-score"
        /// Changes the row but keeps its position in every order.
        case touch
        /// Gives the row the highest score of its writer's rows: with one writer, it becomes first by `-score` and last
        /// by `score`. In a list it becomes first.
        case move
        case insert
        case delete
    }

    /// Highest number of writing threads over all hosts.
    package static let maximumThreads = 1_024
    /// Highest number of hosts.
    public static let maximumHosts = 64

    public var threads = 0
    public var load = Load.open
    /// Commits per second over all writers. Ignored unless `load` is `open`, and with `arrivals: trace`.
    public var rateHz: Double = 0
    public var arrivals = Arrivals.uniform
    /// Commits per burst; applies to `bursts`.
    public var burst = 1
    /// Weights of the kinds of change, > 0, keyed by raw values of `ChangeKind`. One kind is drawn per row.
    public var changes: [String: Double] = [:]
    public var rowsPerCommit = 0
    public var keys = Keys.uniform
    public var process = Process.same
    /// Number of hosts that write, with `threads` writers each; nil: writers run where `process` says.
    public var hosts: Int?
    /// Length of the active phase; applies to `on-off`.
    public var onNs: Int64 = 0
    public var offNs: Int64 = 0
    /// Due times in ns from the start of the warm-up, ascending; applies to `trace`.
    public var traceNs: [Int64] = []
    public var zipfExponent = 1.0
    /// Share of the rows that are hot, and share of the changes that they get (`hotCommits`); apply to `hot`.
    public var hotKeys = 0.01
    public var hotCommits = 0.9
}

extension WritersSpec {
    /// Number of writing threads over all hosts.
    public var count: Int { threads * max(hosts ?? 1, 1) }
}

extension TrialSpec {
    /// Indices of the hosts that observe. With `besideWriters` they start at the first writing host, otherwise they
    /// follow the writing hosts.
    public var observingHosts: Range<Int> {
        let writing = writers.hosts ?? 0
        if observers.besideWriters != nil { return 0..<(observers.hosts ?? writing) }
        return writing..<writing + (observers.hosts ?? 0)
    }

    /// Number of hosts of a trial; nil: the trial uses no hosts.
    public var hosts: Int? { writers.hosts.map { max($0, observingHosts.upperBound) } }
}
