// The table of scenario keys whose values a profile, a sweep or `--set` may change. Parsing, sweeps, overrides, range
// checks, the JSON schema and the reference in Scenarios/README.md are derived from its rows.
//
// A new key needs a case of `Setting` and a property of the spec, both in `TrialSpec.swift`, and a row here. Values
// only.
import TidegaugeSpec

extension Setting {
    /// Row of the key: its storage in the spec, allowed values, default and description. `row` caches it.
    var definition: SettingRow {
        switch self {
        case .durability:
            .init(
                \.spec.durability, .words(["full", "relaxed", "memory"]), default: "memory",
                "What a commit survives once it has returned: a power cut; a killed process; nothing that ends all processes."
            )

        // MARK: dataset
        case .items:
            .init(
                \.spec.dataset.items, .integer(1...100_000_000), default: .missing,
                "Rows that writers choose from. Required.")
        case .groups:
            .init(
                \.spec.dataset.groups, .integer(0...1_000_000), default: .missing,
                "Groups of ten rows that no commit changes. Idle queries watch them. Default: `observers.idle_queries`."
            )
        case .primaryKeys:
            .init(
                \.spec.dataset.keys, .words(), default: .ascending,
                "Primary keys: integers, new ones higher than all before; or 16 random bytes.")
        case .links:
            .init(
                \.spec.dataset.links, .integer(0...DatasetSpec.maximumLinks), default: 0,
                "Links between the rows that are watched and those that change.")
        case .textCharacters:
            .init(
                \.spec.dataset.textCharacters, .integerOrNil(0...100_000), default: 0,
                "Characters of a text in each row, which every change of the row writes anew.")
        case .payloadBytes:
            .init(
                \.spec.dataset.payloadBytes, .integerOrNil(0...1_000_000), default: 0,
                "Bytes in each row, which come with it and stay as they are.")
        case .tables:
            .init(
                \.spec.dataset.tables, .integerOrNil(1...DatasetSpec.maximumTables), default: 1,
                "Tables: the one that is watched, and others. With those each row has a counterpart in one of them, under "
                    + "its key, which comes, changes and goes with it in the same transaction.")
        case .coTenant:
            .init(
                \.spec.dataset.coTenant, .words(), default: .none,
                "Whether a second store of the same process is busy, with its own writer and observer.")

        // MARK: observers
        case .observerCount:
            .init(
                \.spec.observers.count, .integer(0...1_000_000), default: 1,
                "Observers: live queries whose rows writers change.")
        case .queries:
            .init(
                \.spec.observers.queries, .words(), default: .same,
                "What observers watch: one query; equal score ranges side by side; score ranges of one order that have nine "
                    + "tenths in common; different filters on another column, with nine tenths in common.")
        case .match:
            .init(
                \.spec.observers.match, .share(), default: 0.5,
                "The share of the rows that the observers watch in all: those with the highest scores.")
        case .sort:
            .init(
                \.spec.observers.sort, .words(), default: .scoreDescending,
                "The order asked for: none; by a property, either way; a list with an order of its own.")
        case .deliver:
            .init(
                \.spec.observers.deliver, .words(), default: .runLoop,
                "Where observers are called: on threads with a run loop, or on serial queues.")
        case .observerThreads:
            .init(
                \.spec.observers.threads, .integer(1...1_024), default: 1,
                "Threads (or queues) that the observers are spread over, round robin.")
        case .idleQueries:
            .init(
                \.spec.observers.idleQueries, .integer(0...1_000_000), default: 0,
                "Additional live queries of ten rows each, on the same threads, whose rows no commit changes.")
        case .calls:
            .init(
                \.spec.observers.calls, .words(), default: .none,
                "What the first observing thread calls on the store after each commit of a writer, one call at a time.")
        case .subscribe:
            .init(
                \.spec.observers.subscribe, .words(), default: .idle,
                "What goes on while observers subscribe and wait for their first delivery: nothing; a writer holds the write "
                    + "lock; each reads what it will watch before it subscribes; nothing, and then all are cancelled before "
                    + "the first commit.")
        case .reads:
            .init(
                \.spec.observers.reads, .wordsOrNil(.none), default: nil,
                "What each observer reads in each callback, and the oracle checks: nothing; a row by its key, in a read of its "
                    + "own; how many rows its query finds, likewise; the sum of a property over what it shows; two "
                    + "properties of the first 50 rows; a property of every row; a row of another store, of as many "
                    + "rows, which it opens and closes.")
        case .audit:
            .init(
                \.spec.observers.audit, .words(), default: .none,
                "Whether every commit also moves an amount between two rows, which an auditor on each observing thread adds "
                    + "up inside its callbacks.")
        case .heldSnapshots:
            .init(
                \.spec.observers.heldSnapshots, .integer(0...1_000), default: 0,
                "Snapshots that are taken one after another during the load and held until its end.")
        case .publisherChainLength:
            .init(
                \.spec.observers.publisherChainLength, .integer(0...1_000), default: 0,
                "Length of the publisher chain: operators between a notification and the callback.")
        case .churn:
            .init(
                \.spec.observers.churn, .integerOrNil(0...1_000), default: 0,
                "So many further observers come and go while the load runs, a few hundred in a second: cancelled from another "
                    + "thread, with their own threads where a driver lets these go, and made anew. They are in no figure; that "
                    + "that none is called after its cancellation is checked.")

        case .besideWriters:
            .init(
                \.spec.observers.besideWriters, .wordsOrNil(.no), default: nil,
                "Whether as many observers as here are in each process of `writers.hosts` too. Latencies are theirs then, each of the "
                    + "commits of its own host: one clock, and the whole way through the store.")
        case .observerHosts:
            .init(
                \.spec.observers.hosts, .integerOrNil(0...WritersSpec.maximumHosts), default: 0,
                "Hosts that observe, each with as many observers as here. With `beside_writers` they are the first of all, so that they "
                    + "write as well as far as `writers.hosts` goes; without it they are those behind the ones that write, latencies are "
                    + "theirs, and begin on the clock of another host than they end on. 0: those that `beside_writers` says, or none."
            )

        // MARK: writers
        case .writerThreads:
            .init(
                \.spec.writers.threads, .integer(1...WritersSpec.maximumThreads), default: 1,
                "Writers, each on a thread of its own, each with rows of its own.")
        case .writerHosts:
            .init(
                \.spec.writers.hosts, .integerOrNil(0...WritersSpec.maximumHosts), default: 0,
                "Hosts that write, each in a process with so many `threads`; where they are `--hosts` says, and they are processes "
                    + "of this machine where it does not. 0: writers are where `process` says.")
        case .process:
            .init(
                \.spec.writers.process, .words(), default: .same,
                "Whether writers run in the observers' process or in one of their own.")
        case .load:
            .init(
                \.spec.writers.load, .words([.open, .closed]), default: .open,
                "A schedule that waits for nobody; or each commit when the last one is through.")
        case .wait:
            .init(
                \.wait, .words(), default: .return,
                "When a commit of a closed loop is through: when it returned; when every observer was called for it.")
        case .rate:
            .init(
                \.spec.writers.rateHz, .rateHz(10_000_000), default: .missing,
                "Commits per second over all writers, the mean whatever the arrivals. Required where the load is open "
                    + "and no trace says when commits are due; `none` in a variant where there is no schedule.")
        case .arrivals:
            .init(
                \.spec.writers.arrivals, .words(), default: .uniform,
                "Due times: evenly; independently of each other; so many at one moment; independently for a time, none for "
                    + "another; as a file says.")
        case .burst:
            .init(
                \.spec.writers.burst, .integer(1...10_000_000), default: .missing,
                "The number of commits in a burst.", only: .with(.arrivals, WritersSpec.Arrivals.bursts))
        case .onTime:
            .init(
                \.spec.writers.onNs, .durationNs(1_000_000...600_000_000_000), default: .missing,
                "How long commits come.", only: .with(.arrivals, WritersSpec.Arrivals.onOff))
        case .offTime:
            .init(
                \.spec.writers.offNs, .durationNs(1_000_000...600_000_000_000), default: .missing,
                "How long none come.", only: .with(.arrivals, WritersSpec.Arrivals.onOff))
        case .trace:
            .init(
                \.traceFile, .file(), default: .missing,
                "The file with the due times, from the start of the warm-up: one beside the scenario, with a time per line in "
                    + "seconds, or a recorded workload.", only: .with(.arrivals, WritersSpec.Arrivals.trace))
        case .change:
            .init(
                \.spec.writers.changes, .changes,
                default: [WritersSpec.ChangeKind.updateScore.rawValue: 1],
                "What happens to a row: a new place in the order; a change in place; to the top of the order, or the front of "
                    + "the list; a new row; a row less. Several with their weights.")
        case .rowsPerCommit:
            .init(
                \.spec.writers.rowsPerCommit, .integer(1...10_000_000), default: 1,
                "Rows that each commit changes.")
        case .keys:
            .init(
                \.spec.writers.keys, .words(), default: .uniform,
                "Which rows are drawn: from all that writers write to; from those that all observers watch, which they go on "
                    + "doing; by Zipf's law over a random order of the rows; so that few rows get most of the changes; by "
                    + "Zipf's law from the row added last to the oldest.")
        case .zipfExponent:
            .init(
                \.spec.writers.zipfExponent, .number(0.01...10), default: 1,
                "The exponent of Zipf's law: the row of rank r is drawn in proportion to 1 / r to its power.",
                only: .with(.keys, WritersSpec.Keys.zipf, .latest))
        case .hotKeys:
            .init(
                \.spec.writers.hotKeys, .share(), default: 0.01,
                "The share of the rows that are hot.", only: .with(.keys, WritersSpec.Keys.hot))
        case .hotCommits:
            .init(
                \.spec.writers.hotCommits, .share(), default: 0.9,
                "The share of the changes that hot rows get.", only: .with(.keys, WritersSpec.Keys.hot))

        // MARK: fault
        case .fault:
            .init(
                \.spec.fault.kind, .words(), default: .none,
                "What is done on purpose while a trial runs; each kind takes others of these keys."
            )
        case .faultAt:
            .init(
                \.spec.fault.atNs, .durationNs(0...86_400_000_000_000), default: .missing,
                "When it is done, from the start of the measured window.")
        case .faultLength:
            .init(
                \.spec.fault.lengthNs, .durationNs(1_000...60_000_000_000), default: .missing,
                "How long it lasts.")
        case .faultAmount:
            .init(
                \.spec.fault.amount, .number(0...10), default: .missing,
                "By how much of its own time a commit takes longer.")
        case .faultEvery:
            .init(
                \.spec.fault.every, .integer(2...1_000_000_000), default: .missing,
                "Which delivery it concerns, by number.")

        case .faultRows:
            .init(
                \.spec.fault.rows, .integerOrNil(0...100_000_000), default: .missing,
                "How many rows one transaction writes.")

        // MARK: server
        case .serverURL:
            .init(
                \.spec.serverURL, .urlOrNil(), default: .missing, isSwept: false,
                "A server that is there already, for drivers that need one: they work in a schema of their own, which is dropped "
                    + "at the end. Without a password, which PGPASSWORD or ~/.pgpass may hold. Unless said, each trial has a "
                    + "server of its own.")
        case .serverTransport:
            .init(
                \.spec.serverTransport, .wordsOrNil(.unix), default: nil,
                "How a server of the trial's own is reached: by a socket of the file system; by the loopback interface."
            )
        case .serverListeners:
            .init(
                \.spec.serverListeners, .integerOrNil(0...10_000), default: 0,
                "Further connections to the server, each of which listens to what nobody ever says.")
        case .serverSlots:
            .init(
                \.spec.serverSlots, .integerOrNil(0...1_000), default: 0,
                "Further readers, each of which is sent every commit out of the server's log and throws it away.")
        case .serverStandby:
            .init(
                \.spec.serverStandbyNs, .durationOrNil(0...10_000_000_000), default: 0,
                "How long a standby takes to answer, which each commit waits for; 0: there is none.")

        // MARK: How long and how often
        case .search:
            .init(
                \.searchSteps, .integer(0...20), default: 0, isSwept: false,
                "Further trials with which the bracket of `sustainable_rate` is narrowed, after a sweep over rates.")
        case .warmUp:
            .init(
                \.spec.warmUpNs, .durationNs(0...86_400_000_000_000), default: 500_000_000, isSwept: false,
                "Load before the measured window; its commits are made and not measured.")
        case .duration:
            .init(
                \.spec.durationNs, .durationNs(1_000_000...86_400_000_000_000), default: .missing,
                isSwept: false, "The measured window. Required, here or in every profile.")
        case .repetitions:
            .init(
                \.repetitions, .integer(1...1_000), default: 1, isSwept: false,
                "Trials at each point, on each driver.")
        case .hangTimeout:
            .init(
                \.spec.hangTimeoutNs, .durationNs(10_000_000...86_400_000_000_000), default: 5_000_000_000,
                isSwept: false, "No progress for so long is a hang.")
        }
    }
}
