// What one child process is told to do: everything a trial needs and nothing it could look up elsewhere, as versioned
// JSON, because `compare` feeds the same spec to the binaries of two commits. Units stand in the names; what a scenario's key
// leads to means what that key's row in `TidegaugeScenario` says.

/// One trial: a scenario at one point of its sweep, on one driver, with one seed.
public struct TrialSpec: Codable, Sendable, Equatable {
    /// Raised whenever a field changes its meaning; a binary refuses specs of another version.
    public static let currentVersion = 13
    /// The oldest version that other binaries are asked in, that of commit 0f28f9de.
    package static let oldestVersion = 12
    /// Keys that `oldestVersion` does not know, with the version that introduced each. `text` returns a value other than the default.
    static let youngerKeys: YoungerKeys = []
    typealias YoungerKeys = [(key: Setting, since: Int, text: @Sendable (TrialSpec) -> String?)]
    /// Of no scenario: what a point starts from.
    package static let blank = TrialSpec()

    public var specVersion = TrialSpec.currentVersion
    public var scenario = ""
    /// SHA-256 of the scenario file, hexadecimal.
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
    /// Names of `Metric`s.
    public var measure: [String] = []
    public var warmUpNs: Int64 = 0
    /// The measured window.
    public var durationNs: Int64 = 0
    public var hangTimeoutNs: Int64 = 0
    /// What is done to the store, to the processes or to the harness while it runs.
    public var fault = FaultSpec()
    /// So many commits and callbacks each are handed on one by one, for a trace; nil: none.
    public var traceEvents: Int?
    /// A play instead of a load.
    public var choreography: Choreography?
    /// A flaw on purpose, of a calibration; nil: none.
    public var shim: Shim?
    /// With the other side of a pair; nil: it has the machine to itself.
    public var turns: TurnsSpec?
    /// What commits do and who watches, as an application did; nil: what `writers` and `observers` say.
    public var workload: WorkloadSpec?
    /// Of a server that is there already, without a password; nil: the driver has one of its own, or needs none.
    public var serverURL: String?
    /// How a server of the driver's own is reached; nil: by a socket of the file system.
    public var serverTransport: ServerTransport?
    /// Further connections to it that listen to what nobody says; nil: none.
    public var serverListeners: Int?
    /// Further readers of its log; nil: none.
    public var serverSlots: Int?
    /// So long a standby takes to answer, which every commit waits for; nil: there is none.
    public var serverStandbyNs: Int64?
    /// So many commits, counted, instead of a measured window; nil: it is timed.
    public var count: CountSpec?
}

/// Key path of a value in a scenario file. `TidegaugeScenario` has a row for each.
public enum Setting: String, CaseIterable, Sendable, Codable {
    case durability
    case items = "dataset.items"
    case groups = "dataset.groups"
    case primaryKeys = "dataset.keys"
    case links = "dataset.links"
    case textCharacters = "dataset.text_characters"
    case payloadBytes = "dataset.payload_bytes"
    case tables = "dataset.tables"
    case neighbour = "dataset.neighbour"
    case observerCount = "observers.count"
    case queries = "observers.queries"
    case match = "observers.match"
    case sort = "observers.sort"
    case deliver = "observers.deliver"
    case observerThreads = "observers.threads"
    case bystanders = "observers.bystanders"
    case calls = "observers.calls"
    case subscribe = "observers.subscribe"
    case reads = "observers.reads"
    case audit = "observers.audit"
    case pins = "observers.pins"
    case operators = "observers.operators"
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
    /// What primary keys look like to the engine. The harness counts them either way.
    public enum Keys: String, Codable, Sendable, CaseIterable {
        /// Integers; new rows have higher ones than all before.
        case ascending
        /// 16 random bytes.
        case uuid
    }

    /// What else is open in the process.
    public enum Neighbour: String, Codable, Sendable, CaseIterable {
        case none
        /// A second store of the same engine, which a writer of its own keeps busy and an observer of its own watches.
        case busy
    }

    /// As deep as change detection is asked for.
    public static let maximumLinks = 4
    /// As many as drivers have models for.
    public static let maximumTables = 8

    /// Rows that writers choose from, keys 0 ..< items.
    public var items = 0
    /// Further groups of ten rows that no commit touches: what bystanders watch.
    public var groups = 0
    public var keys = Keys.ascending
    /// So many links lie between what observers watch and the rows that writers change; 0: they watch those rows.
    public var links = 0
    /// Of a text in each row, which every change writes anew; nil: none.
    public var textCharacters: Int?
    /// In each row, which come with it and stay; nil: none.
    public var payloadBytes: Int?
    /// Each row has a counterpart in one of those beside the first, which comes, changes and goes with it; nil: one table.
    public var tables: Int?
    public var neighbour = Neighbour.none
}

public struct ObserversSpec: Codable, Sendable, Equatable {
    /// What the observers watch.
    public enum Queries: String, Codable, Sendable, CaseIterable {
        /// All the same query: the `match` share with the highest scores.
        case same
        /// Observer i of n watches the i-th of n equal score ranges of the `match` share, all in one order.
        case ranges
        /// Observer i of n watches the `match` share but for the lowest i/n of its lowest tenth: n score ranges of one
        /// order, nine tenths of which they all watch.
        case overlapping
        /// The same shares of the keys instead of the scores: n filters that the order is no help with.
        case filters
    }
    public enum Sort: String, Codable, Sendable, CaseIterable {
        case none
        case scoreAscending = "score"
        case scoreDescending = "-score"
        /// A list of all the rows, in an order of its own, which `move` changes.
        case list
    }
    public enum Deliver: String, Codable, Sendable, CaseIterable {
        case runLoop = "run-loop"
        case queue
    }
    /// What the first observing thread calls on the store after each commit of a writer, one call at a time.
    public enum Calls: String, Codable, Sendable, CaseIterable {
        case none
        /// Begins a write and cancels it.
        case beginWrite = "begin-write"
        case refresh
    }
    /// What else goes on while the observers subscribe and wait for their initial deliveries.
    public enum Subscribe: String, Codable, Sendable, CaseIterable {
        case idle
        /// A writer has begun a transaction and holds the write lock throughout.
        case locked
        /// Nothing; each reads what it will watch, on its thread, before it subscribes.
        case readFirst = "read-first"
        /// Nothing; and all are cancelled before the first commit, so that nobody watches any more.
        case cancelled
    }
    /// What each observer reads in each callback, and the oracle checks.
    public enum Reads: String, Codable, Sendable, CaseIterable {
        case none
        /// A row by its key, in a read of its own.
        case lookup
        /// How many rows its query finds, in a read of its own.
        case count
        /// The sum of a property over all that it shows.
        case sum
        /// Two properties of the first 50 rows that it shows.
        case window
        /// A property of every row that it shows.
        case iterate
        /// Opens a store that is there, of as many rows, reads a row, and closes it again.
        case open
    }
    /// What observers check inside their callbacks, beside recording.
    public enum Audit: String, Codable, Sendable, CaseIterable {
        case none
        /// Each commit moves an amount between two rows of its writer, and an auditor on every observing thread adds all
        /// of them up at each of its callbacks: a sum that is not 0 is a transaction seen in part.
        case sums
    }

    /// Whether processes that write elsewhere observe as well.
    public enum BesideWriters: String, Codable, Sendable, CaseIterable {
        case no = "false"
        case yes = "true"
    }

    public var count = 0
    public var queries = Queries.same
    /// Share of the items that `same` queries match in all, in (0, 1].
    public var match: Double = 0
    public var sort = Sort.none
    public var deliver = Deliver.runLoop
    public var threads = 0
    public var bystanders = 0
    /// Always 0. Binaries that read specs of version 12 require it.
    private(set) var workNs: Int64 = 0
    public var calls = Calls.none
    public var subscribe = Subscribe.idle
    public var audit = Audit.none
    /// nil: nothing.
    public var reads: Reads?
    public var pins = 0
    public var operators = 0
    /// So many further observers of the first query come and go while the load runs; nil: none.
    public var churn: Int?
    /// nil: they do not.
    public var besideWriters: BesideWriters?
    /// So many hosts observe, beside the trial's own process; nil: those that write, where `besideWriters` says so, or none.
    public var hosts: Int?
}

public struct WritersSpec: Codable, Sendable, Equatable {
    public enum Load: String, Codable, Sendable, CaseIterable {
        /// Each writer follows its schedule; lateness is recorded, never forgiven.
        case open
        /// Each writer commits as soon as its last commit returned. Reported as service time, never latency.
        case closed
        /// The only writer commits as soon as every observer has been called for its last commit: in a scenario file
        /// `load: closed` with `wait: delivery`.
        case lockstep
    }
    /// What a closed loop waits for.
    public enum Wait: String, Codable, Sendable, CaseIterable {
        case `return`
        case delivery
    }
    /// Where writers run: in the observers' process, or in one of their own.
    public enum Process: String, Codable, Sendable, CaseIterable {
        case same
        case own
    }
    public enum Arrivals: String, Codable, Sendable, CaseIterable {
        case uniform
        case poisson
        /// `burst` commits at one due time, then nothing until the mean rate is kept.
        case bursts
        /// Poisson for `on_time`, silence for `off_time`, over and over; the mean rate is kept.
        case onOff = "on-off"
        /// Due times from a file beside the scenario, from the start of the warm-up, dealt out to the writers in turn.
        case trace
    }
    /// Which rows a commit changes. Each writer has rows of its own, and chooses among those.
    public enum Keys: String, Codable, Sendable, CaseIterable {
        /// All rows that writers write to.
        case uniform
        /// Rows that all observers watch, which stay so: every commit touches every query.
        case matching
        /// The row of rank r in a random order with a probability in proportion to 1 / r^`zipf_exponent`.
        case zipf
        /// `hot_keys` of the rows get `hot_commits` of the changes.
        case hot
        /// As `zipf`, over rows from the one inserted last to the oldest.
        case latest
    }
    public enum ChangeKind: String, Codable, Sendable, CaseIterable {
        /// A new unique score: the row moves in every order by score, and may enter or leave a query.
        case updateScore = "update-score"
        /// The row changes and keeps its place.
        case touch
        /// The row goes to the top of the scores, in front of all others by `-score` and behind them by `score`; in a
        /// list to the front.
        case move
        case insert
        case delete
    }

    /// Over all hosts.
    package static let maximumThreads = 1_024
    /// More than anybody has lent for a benchmark.
    public static let maximumHosts = 64

    public var threads = 0
    public var load = Load.open
    /// Commits per second over all writers; ignored unless `open`.
    public var rateHz: Double = 0
    public var arrivals = Arrivals.uniform
    /// Commits per burst, for `bursts`.
    public var burst = 1
    /// Weights of the kinds of change, > 0, keys `ChangeKind` raw values; one kind is drawn per row.
    public var changes: [String: Double] = [:]
    public var rowsPerCommit = 0
    public var keys = Keys.uniform
    public var process = Process.same
    /// So many hosts write, with `threads` each; nil: writers are where `process` says.
    public var hosts: Int?
    /// Of `on-off`.
    public var onNs: Int64 = 0
    public var offNs: Int64 = 0
    /// Of `trace`: due times in ns from the start of the warm-up, ascending.
    public var traceNs: [Int64] = []
    public var zipfExponent = 1.0
    /// Of `hot`: a share of the rows, and the share of the changes that they get.
    public var hotKeys = 0.01
    public var hotCommits = 0.9
}

extension WritersSpec {
    /// Over all hosts.
    public var count: Int { threads * max(hosts ?? 1, 1) }
}

extension TrialSpec {
    /// Those of a trial's hosts that observe, by their place among all: the ones that write from the first on, where observers are
    /// beside writers, or else those behind them.
    public var observingHosts: Range<Int> {
        let writing = writers.hosts ?? 0
        if observers.besideWriters != nil { return 0..<(observers.hosts ?? writing) }
        return writing..<writing + (observers.hosts ?? 0)
    }

    /// How many hosts a trial has; nil: it is one process, or two.
    public var hosts: Int? { writers.hosts.map { max($0, observingHosts.upperBound) } }
}
