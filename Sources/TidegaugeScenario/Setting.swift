// The table of settings. Parsing, sweeps, overrides, range checks, the JSON schema and the reference in
// Docs/scenarios.md are derived from its rows.
//
// CONTRIBUTING.md says what else a new key needs. Values only.
import TidegaugeSpec

extension Setting {
    /// Row of the key: its storage in the spec, allowed values, default and description. `row` caches it.
    var definition: SettingRow {
        switch self {
        case .durability:
            .init(
                \.spec.durability, .words(["full", "relaxed", "memory"]), default: "memory",
                "What a returned commit survives. `full`: a power cut. `relaxed`: a killed process. `memory`: "
                    + "nothing that ends all processes.")

        // MARK: dataset
        case .items:
            .init(
                \.spec.dataset.items, .integer(1...100_000_000), default: .missing,
                "Number of rows that writers choose from. Required.")
        case .groups:
            .init(
                \.spec.dataset.groups, .integer(0...1_000_000), default: .missing,
                "Number of groups of ten rows that no commit changes, for idle queries. Default: "
                    + "`observers.idle_queries`.")
        case .primaryKeys:
            .init(
                \.spec.dataset.keys, .words(), default: .ascending,
                "Primary keys. `ascending`: integers, the highest in the newest row. `uuid`: 16 random bytes.")
        case .links:
            .init(
                \.spec.dataset.links, .integer(0...DatasetSpec.maximumLinks), default: 0,
                "Number of links from the observed rows to the rows that commits change.")
        case .textCharacters:
            .init(
                \.spec.dataset.textCharacters, .integerOrNil(0...100_000), default: 0,
                "Length in characters of a text in each row. Every change of the row writes it anew.")
        case .payloadBytes:
            .init(
                \.spec.dataset.payloadBytes, .integerOrNil(0...1_000_000), default: 0,
                "Size in bytes of a payload in each row. It is written once, when the row is inserted.")
        case .tables:
            .init(
                \.spec.dataset.tables, .integerOrNil(1...DatasetSpec.maximumTables), default: 1,
                "Number of tables. Observers watch the first. Each row has a counterpart with its key in one of "
                    + "the others, which is inserted, changed and deleted in the same transaction.")
        case .coTenant:
            .init(
                \.spec.dataset.coTenant, .words(), default: .none,
                "Second store of the same engine in the process. `busy`: with a writer and an observer of its own.")

        // MARK: observers
        case .observerCount:
            .init(
                \.spec.observers.count, .integer(0...1_000_000), default: 1,
                "Number of observers: live queries whose rows writers change.")
        case .queries:
            .init(
                \.spec.observers.queries, .words(), default: .same,
                "Queries that observers watch. `same`: one query. `ranges`: adjacent score ranges of equal "
                    + "size. `overlapping`: score ranges in one order that share nine tenths of their rows. "
                    + "`filters`: different filters on another column that share nine tenths of their rows.")
        case .match:
            .init(
                \.spec.observers.match, .share(), default: 0.5,
                "Share of the rows that the observers watch in total. They are the rows with the highest scores; with "
                    + "`queries: filters`, with the highest keys.")
        case .sort:
            .init(
                \.spec.observers.sort, .words(), default: .scoreDescending,
                "Order of the queries. `none`: no order. `score`, `-score`: by a property, ascending or "
                    + "descending. `list`: the manual order of a list.")
        case .deliver:
            .init(
                \.spec.observers.deliver, .words(), default: .runLoop,
                "Delivery context of observers. `run-loop`: threads with a run loop. `queue`: serial queues.")
        case .observerThreads:
            .init(
                \.spec.observers.threads, .integer(1...1_024), default: 1,
                "Number of threads (or queues) to which the observers are assigned round robin.")
        case .idleQueries:
            .init(
                \.spec.observers.idleQueries, .integer(0...1_000_000), default: 0,
                "Number of additional live queries of ten rows each, on the same threads, whose rows no commit "
                    + "changes.")
        case .calls:
            .init(
                \.spec.observers.calls, .words(), default: .none,
                "Call that the first observing thread makes on the store after a commit. Commits during a call cause "
                    + "no other. `begin-write`: begins a write transaction and cancels it. `refresh`: advances to the "
                    + "newest version.")
        case .subscribe:
            .init(
                \.spec.observers.subscribe, .words(), default: .idle,
                "Activity while observers subscribe and wait for their first delivery. `idle`: none. `locked`: "
                    + "a writer holds the write lock. `read-first`: none, but each observer reads its rows before "
                    + "it subscribes. `cancelled`: none, and all observers are cancelled before the first commit.")
        case .reads:
            .init(
                \.spec.observers.reads, .wordsOrNil(.none), default: nil,
                "Read that each observer makes in each callback. The oracle checks the result. `lookup`: a row "
                    + "by its key. `count`: the number of rows of its query. `sum`: the sum of a property over its "
                    + "result. `window`: two properties of the first 50 rows. `iterate`: a property of every row. "
                    + "`open`: opens another store with as many rows, reads a row and closes it. `lookup` and "
                    + "`count` are reads outside of the result.")
        case .condition:
            .init(
                \.spec.observers.condition, .conditionOrNil(), default: nil,
                "Condition by which `reads: count` counts the rows of the whole table. `in`: the value is that of one "
                    + "of N loaded rows. `or`: the same, as N equalities joined by or. The other operators are those "
                    + "of Django; an `i` in front ignores case. WORD consists of ASCII letters and digits. `none`: "
                    + "`count` counts the rows of its query.",
                only: .with(.reads, ObserversSpec.Reads.count))
        case .audit:
            .init(
                \.spec.observers.audit, .words(), default: .none,
                "Check for partial transactions. `sums`: every commit moves an amount between two rows, and an "
                    + "auditor on each observing thread adds up all amounts inside its callbacks.")
        case .heldSnapshots:
            .init(
                \.spec.observers.heldSnapshots, .integer(0...1_000), default: 0,
                "Number of snapshots that are taken one after another during the load and held until its end.")
        case .publisherChainLength:
            .init(
                \.spec.observers.publisherChainLength, .integer(0...1_000), default: 0,
                "Number of publisher operators between a notification and the callback.")
        case .churn:
            .init(
                \.spec.observers.churn, .integerOrNil(0...1_000), default: 0,
                "Number of additional observers that are cancelled by another thread and replaced during the "
                    + "load, a few hundred per second in total. Their threads are replaced too if the driver "
                    + "supports it. They are in no figure. A callback after a cancellation is a violation.")

        case .besideWriters:
            .init(
                \.spec.observers.besideWriters, .wordsOrNil(.no), default: nil,
                "Whether each process of `writers.hosts` also has `observers.count` observers. Latencies are "
                    + "then those of commits of the same host, on one clock, through the whole store.")
        case .observerHosts:
            .init(
                \.spec.observers.hosts, .integerOrNil(0...WritersSpec.maximumHosts), default: 0,
                "Number of hosts that observe, each with `observers.count` observers. With `beside_writers` "
                    + "these are the first hosts, which also write if they are among the first `writers.hosts`. "
                    + "Otherwise these are the hosts after the writing ones, and latencies begin on the clock of "
                    + "another host than they end on. 0: the hosts of `beside_writers`, or none.")

        // MARK: writers
        case .writerThreads:
            .init(
                \.spec.writers.threads, .integer(1...WritersSpec.maximumThreads), default: 1,
                "Number of writers. Each has a thread and rows of its own.")
        case .writerHosts:
            .init(
                \.spec.writers.hosts, .integerOrNil(0...WritersSpec.maximumHosts), default: 0,
                "Number of hosts that write, each in a process with `writers.threads` writers. `--hosts` says "
                    + "where they are; without it they are processes of this machine. 0: `writers.process` applies.")
        case .process:
            .init(
                \.spec.writers.process, .words(), default: .same,
                "Process of the writers. `same`: the process of the observers. `own`: a process of its own.")
        case .load:
            .init(
                \.spec.writers.load, .words([.open, .closed]), default: .open,
                "Times of commits. `open`: a schedule that waits for nothing. `closed`: each commit as soon as "
                    + "the previous one is complete (`writers.wait`).")
        case .wait:
            .init(
                \.wait, .words(), default: .return,
                "Event that completes a commit of a closed loop. `return`: the commit has returned. `delivery`: "
                    + "every observer has been called for it.")
        case .rate:
            .init(
                \.spec.writers.rateHz, .rateHz(10_000_000), default: .missing,
                "Commits per second, the mean over all writers. Required if the load is open and has no trace. "
                    + "Reports show `none` at a point without a schedule.")
        case .arrivals:
            .init(
                \.spec.writers.arrivals, .words(), default: .uniform,
                "Due times of commits. `uniform`: at equal intervals. `poisson`: independent of each other. "
                    + "`bursts`: `writers.burst` commits at one time. `on-off`: `poisson` for `writers.on_time`, "
                    + "then none for `writers.off_time`. `trace`: from a file.")
        case .burst:
            .init(
                \.spec.writers.burst, .integer(1...10_000_000), default: .missing,
                "Number of commits in a burst.", only: .with(.arrivals, WritersSpec.Arrivals.bursts))
        case .onTime:
            .init(
                \.spec.writers.onNs, .durationNs(1_000_000...600_000_000_000), default: .missing,
                "Length of a period with commits.", only: .with(.arrivals, WritersSpec.Arrivals.onOff))
        case .offTime:
            .init(
                \.spec.writers.offNs, .durationNs(1_000_000...600_000_000_000), default: .missing,
                "Length of a period without commits.", only: .with(.arrivals, WritersSpec.Arrivals.onOff))
        case .trace:
            .init(
                \.traceFile, .file(), default: .missing,
                "File with the due times, counted from the start of the warm-up: one beside the scenario, with "
                    + "a time in seconds per line, or a recorded workload.",
                only: .with(.arrivals, WritersSpec.Arrivals.trace))
        case .change:
            .init(
                \.spec.writers.changes, .changes,
                default: [WritersSpec.ChangeKind.updateScore.rawValue: 1],
                "Change of a row. `update-score`: to another position in the order. `touch`: without another "
                    + "position. `move`: to the top of the order, or the front of the list. `insert`: a new row. "
                    + "`delete`: one row less. A list or a map of weights combines several.")
        case .rowsPerCommit:
            .init(
                \.spec.writers.rowsPerCommit, .integer(1...10_000_000), default: 1,
                "Number of rows that each commit changes.")
        case .keys:
            .init(
                \.spec.writers.keys, .words(), default: .uniform,
                "Distribution of the changed rows. `uniform`: all rows of the writers. `matching`: rows that "
                    + "all observers watch and that stay in their results. `zipf`: Zipf's law over a random order "
                    + "of the rows. `hot`: few rows get most of the changes. `latest`: Zipf's law from the newest "
                    + "row to the oldest.")
        case .zipfExponent:
            .init(
                \.spec.writers.zipfExponent, .number(0.01...10), default: 1,
                "Exponent s of Zipf's law: the row of rank r is chosen in proportion to 1 / r^s.",
                only: .with(.keys, WritersSpec.Keys.zipf, .latest))
        case .hotKeys:
            .init(
                \.spec.writers.hotKeys, .share(), default: 0.01,
                "Share of the rows that are hot.", only: .with(.keys, WritersSpec.Keys.hot))
        case .hotCommits:
            .init(
                \.spec.writers.hotCommits, .share(), default: 0.9,
                "Share of the changes that hot rows get.", only: .with(.keys, WritersSpec.Keys.hot))

        // MARK: fault
        case .fault:
            .init(
                \.spec.fault.kind, .words(), default: .none,
                "Fault that is injected during a trial. Each kind takes some of the other keys of this section.")
        case .faultAt:
            .init(
                \.spec.fault.atNs, .durationNs(0...86_400_000_000_000), default: .missing,
                "Time of the fault, from the start of the measured window.")
        case .faultLength:
            .init(
                \.spec.fault.lengthNs, .durationNs(1_000...60_000_000_000), default: .missing,
                "Duration of the fault.")
        case .faultAmount:
            .init(
                \.spec.fault.amount, .number(0...10), default: .missing,
                "Additional duration of a commit, as a multiple of its own.")
        case .faultEvery:
            .init(
                \.spec.fault.every, .integer(2...1_000_000_000), default: .missing,
                "Number n of the affected delivery: every n-th one is lost, or the n-th one is reordered.")

        case .faultRows:
            .init(
                \.spec.fault.rows, .integerOrNil(0...100_000_000), default: .missing,
                "Number of rows that the transaction writes.")

        // MARK: server
        case .serverURL:
            .init(
                \.spec.serverURL, .urlOrNil(), default: .missing, isSwept: false,
                "Existing server, for drivers that need one. They work in a schema of their own, which is "
                    + "dropped at the end. The URL has no password; PGPASSWORD or ~/.pgpass may hold it. Default: "
                    + "each trial starts a server of its own.")
        case .serverTransport:
            .init(
                \.spec.serverTransport, .wordsOrNil(.unix), default: nil,
                "Transport to a server that the trial started. `unix`: a Unix socket. `tcp`: the loopback interface.")
        case .serverListeners:
            .init(
                \.spec.serverListeners, .integerOrNil(0...10_000), default: 0,
                "Number of additional connections to the server that listen on channels without messages.")
        case .serverSlots:
            .init(
                \.spec.serverSlots, .integerOrNil(0...1_000), default: 0,
                "Number of additional readers that get every commit from the server's log and discard it.")
        case .serverStandby:
            .init(
                \.spec.serverStandbyNs, .durationOrNil(0...10_000_000_000), default: 0,
                "Delay of a standby that every commit waits for. 0: no standby.")

        // MARK: How long and how often
        case .search:
            .init(
                \.searchSteps, .integer(0...20), default: 0, isSwept: false,
                "Maximum number of trials per driver that search for `sustainable_rate` after a sweep over rates.")
        case .warmUp:
            .init(
                \.spec.warmUpNs, .durationNs(0...86_400_000_000_000), default: 500_000_000, isSwept: false,
                "Time under load before the measured window. Its commits are not measured.")
        case .duration:
            .init(
                \.spec.durationNs, .durationNs(1_000_000...86_400_000_000_000), default: .missing,
                isSwept: false,
                "Length of the measured window. Required, here or in every profile.")
        case .repetitions:
            .init(
                \.repetitions, .integer(1...1_000), default: 1, isSwept: false,
                "Number of trials at each point on each driver.")
        case .hangTimeout:
            .init(
                \.spec.hangTimeoutNs, .durationNs(10_000_000...86_400_000_000_000), default: 5_000_000_000,
                isSwept: false,
                "Time without progress after which a trial counts as hung.")
        }
    }
}
