// Runs one history on a store of its own, and checks what follows from replies. HistoryCheck.swift checks the
// deliveries afterwards. Waits for deliveries have a time limit; `Conformer` limits the time of a whole step.
import Foundation
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeTrial

/// Used on the thread that calls `outcome`.
struct HistoryRun {
    struct Subscribed {
        let query: Query
        let context: Int
        let sink: ConformSink
        let subscription: any DriverSubscription
    }

    /// Error: the rows of the store are unknown, so no further step is run.
    private struct Lost: Error {}

    let history: ConformHistory
    let capabilities: Capabilities
    let limitNs: Int64
    let store: any DrivenStore
    let recorder = ConformRecorder()
    let contexts: [DeliveryContext]
    private let writer: any StoreWriter
    /// Correct rows after each commit. The first has the loaded rows.
    var states: [ConformTable]
    /// Version or token of each commit, parallel to `states` without the first.
    private(set) var versions: [Int64] = []
    private(set) var changes: [[Change]] = []
    /// Number of commits that a delivery's token contains; known in the end.
    private var standing: (@Sendable (Int64) -> Int64)?
    /// Whether the rows of the store became unknown, so that later deliveries cannot be checked.
    private(set) var isLost = false
    var subscribed: [Int: Subscribed] = [:]
    private(set) var cancelled: [Int: ConformPromise] = [:]
    /// Number of commits at the last `settle`.
    private var settled = 0
    /// The promise that wrong contents break: depends on the last commit.
    private var contentsPromise = ConformPromise.contents
    var breaches = ConformBreaches()

    /// Runs the history on this thread.
    /// - Parameter note: called with each step before it begins.
    static func outcome(
        of history: ConformHistory, on driver: any StoreDriver, limitNs: Int64, _ note: (String) -> Void
    ) -> ConformOutcome {
        var outcome = ConformOutcome()
        var step = "open"
        func began(_ text: String) {
            step = text
            note(text)
        }
        do {
            began("open")
            let place = history.durability == .memory ? PrivateFolder.memoryPlace : PrivateFolder.temporaryPlace
            let folder = try PrivateFolder(in: place)
            defer { folder.remove() }
            var configuration = StoreConfiguration(
                directory: try folder.makeStoreFolder(), durability: history.durability)
            configuration.silenceLimitNs = limitNs
            let contexts = (0..<2).map { DeliveryContext("observer-\($0)", history.deliver) }
            defer { for context in contexts { context.stop() } }
            let store = try driver.open(configuration)
            var isClosed = false
            // The error that has ended the history counts.
            defer { if !isClosed { try? store.close() } }
            try store.load(count: history.rows.count) { history.rows[$0] }
            var run = HistoryRun(history, driver.capabilities, limitNs, store, contexts, try store.makeWriter())
            defer {
                for known in run.subscribed.values {
                    known.subscription.cancel()
                    known.sink.detach()
                }
            }
            outcome.isSelfTimed = run.writer is any SelfTimedWriter
            do {
                for (number, next) in history.steps.enumerated() {
                    began("step \(number + 2)")
                    try run.perform(next)
                }
                began("close")
                isClosed = true
                try run.close()
            } catch is Lost {
                run.isLost = true
            } catch {
                let races = run.cancelled.values.contains(.cancelledUnderLoad)
                run.breaches.add(
                    error, in: step,
                    breaks: step == "close" ? .close : races ? .cancelledUnderLoad : .requests)
            }
            run.checkDeliveries()
            outcome.breaches = run.breaches
        } catch let error as DriverUnavailable {
            outcome.unavailable = error
        } catch {
            outcome.breaches.add(error, in: step)
        }
        return outcome
    }

    private init(
        _ history: ConformHistory, _ capabilities: Capabilities, _ limitNs: Int64, _ store: any DrivenStore,
        _ contexts: [DeliveryContext], _ writer: any StoreWriter
    ) {
        (self.history, self.capabilities, self.limitNs, self.store) = (history, capabilities, limitNs, store)
        (self.contexts, self.writer) = (contexts, writer)
        states = [ConformTable(history.rows)]
    }

    private mutating func perform(_ step: ConformHistory.Step) throws {
        switch step {
        case .subscribe(let number, let query, let context, let besideWriter):
            try subscribe(number, query, context, besideWriter: besideWriter)
        case .cancel(let number, let onContext): try cancel(number, onContext: onContext, breaks: .cancelled)
        case .commit(let changes):
            try judge(Made(changes, by: writer))
            contentsPromise = .contents
        case .together(let writers, let cancelling): try commit(writers, cancelling)
        case .settle: try settle()
        case .kill: break  // Only in histories of killed processes, which are not run here.
        }
        if let failure = recorder.state.withLock({ $0.failure }) { throw failure }
    }

    // MARK: Subscriptions

    private mutating func subscribe(_ number: Int, _ query: Query, _ context: Int, besideWriter: Bool) throws {
        let holder = try besideWriter ? LockHolder(store, limitNs) : nil
        let (site, shows) = (contexts[context].deliverySite, capabilities.hasContents && capabilities.shows != .nothing)
        let (sink, subscription) = try contexts[context].run(timeoutNs: limitNs) { [store, recorder] in
            let sink = ConformSink(number, in: context, site, shows: shows, recorder)
            let subscription = try store.subscribe(to: query, at: site, sink: sink)
            sink.attach(subscription)
            return (sink, subscription)
        }
        subscribed[number] = Subscribed(query: query, context: context, sink: sink, subscription: subscription)
        let deadlineNs = MonotonicClock.nowNs() + limitNs
        if besideWriter, !recorder.wait(number, after: 0, untilNs: deadlineNs) {
            breaches.add(
                .facts,
                "subscription \(number) was not delivered within \(limitNs / 1_000_000_000) s while a writer held the write lock",
                isTimeout: true)
        }
        try holder?.release()
    }

    private mutating func cancel(_ number: Int, onContext: Bool, breaks promise: ConformPromise) throws {
        guard let known = subscribed[number] else { return }
        cancelled[number] = promise
        let (subscription, recorder) = (known.subscription, self.recorder)
        if onContext {
            try contexts[known.context].run(timeoutNs: limitNs) {
                subscription.cancel()
                recorder.end(number)
            }
        } else {
            subscription.cancel()
            // One delivery may have begun before.
            recorder.end(number, allowed: 1)
            try contexts[known.context].run(timeoutNs: limitNs) { recorder.end(number) }
        }
    }

    // MARK: Commits

    /// A commit that has returned or failed.
    private struct Made: Sendable {
        let changes: [Change]
        var version: Int64?
        var missingKey: Int64?
        var error: (any Error)?

        init(_ changes: [Change], by writer: any StoreWriter) {
            self.changes = changes
            do {
                version = try changes.withUnsafeBufferPointer { try writer.commit($0, locked: {}) }
            } catch let missing as MissingItem {
                missingKey = missing.key
            } catch {
                self.error = error
            }
        }
    }

    /// Compares the reply to a commit with the model.
    private mutating func judge(_ made: Made, promise: ConformPromise = .versions) throws {
        var table = states[states.count - 1]
        let expected = table.apply(made.changes)
        if let error = made.error {
            let name = (error as? any NamedEngineError)?.reportName
            guard let expected, name == nil || name == "engine_error" else { throw error }
            breaches.add(.failing, "row \(expected) is missing, and the commit failed otherwise: \(error)")
            return try checkContents(.failing)
        }
        let broken = promise == .serial ? promise : .failing
        switch (expected, made.missingKey) {
        case (nil, let key?):
            breaches.add(broken, "a commit was refused because row \(key) is missing, which is there")
            throw Lost()
        case (let key?, nil):
            breaches.add(broken, "a commit that changes the missing row \(key) was accepted")
            throw Lost()
        case (let key?, let named?):
            if key != named { breaches.add(broken, "row \(key) is missing, and the commit named row \(named)") }
            try checkContents(broken)
        case (nil, nil):
            let isEqual = table.found(by: Query()) == states[states.count - 1].found(by: Query())
            let version = made.version ?? Int64(states.count)
            if capabilities.hasVersions, !capabilities.can(.lateVersions), let last = versions.last,
                isEqual ? version < last : version <= last
            {
                breaches.add(promise, "commit \(states.count) has version \(version), the one before it \(last)")
            }
            states.append(table)
            versions.append(version)
            changes.append(made.changes)
        }
    }

    private mutating func commit(_ writers: [[[Change]]], _ cancelling: [Int]) throws {
        let gate = Gate("conform writers")
        let made = Guarded<[[Made]]>("conform commits", Array(repeating: [], count: writers.count))
        let failure = Guarded<(any Error)?>("conform writer", nil)
        let threads = writers.enumerated().map { number, commits in
            TracedThread("conform-\(number)") { [store] in
                do {
                    let writer = try store.makeWriter()
                    gate.arriveAndWait()
                    for commit in commits {
                        let result = Made(commit, by: writer)
                        made.withLock { $0[number].append(result) }
                        if result.error != nil { return }
                    }
                } catch {
                    failure.withLock { $0 = error }
                    gate.arriveAndWait()
                }
            }
        }
        gate.open(0)
        for number in cancelling { cancelled[number] = .cancelledUnderLoad }
        let cancelling = Result {
            for number in cancelling { try cancel(number, onContext: false, breaks: .cancelledUnderLoad) }
        }
        for thread in threads { thread.join() }
        try cancelling.get()
        if let failure = failure.withLock({ $0 }) { throw failure }
        let lists = made.withLock { $0 }
        if let error = lists.joined().compactMap(\.error).first { throw error }
        for list in lists where zip(list, list.dropFirst()).contains(where: { ($0.version ?? 0) > ($1.version ?? 0) }) {
            breaches.add(.serial, "versions of one writer went back: \(list.map { $0.version ?? 0 })")
        }
        var all = Array(lists.joined())
        let numbers = all.compactMap(\.version)
        if Set(numbers).count < numbers.count {
            breaches.add(.serial, "two commits have the same version: \(numbers.sorted())")
        }
        // The sort is stable, so equal versions keep the order of each writer.
        if !capabilities.can(.lateVersions) { all.sort { ($0.version ?? 0) < ($1.version ?? 0) } }
        for commit in all { try judge(commit, promise: .serial) }
        contentsPromise = .serial
    }

    // MARK: Waiting

    /// Number of commits that a delivery at `version` contains; nil without a version.
    func covered(by version: Int64?) -> Int? {
        guard let version else { return nil }
        if let standing { return Int(standing(version)) }
        if let late = store as? any LateVersions {
            return versions.firstIndex { !late.shows(delivery: version, commit: $0) } ?? versions.count
        }
        return (versions.lastIndex { $0 <= version } ?? -1) + 1
    }

    private mutating func settle() throws {
        let deadlineNs = MonotonicClock.nowNs() + limitNs
        let live = subscribed.filter { cancelled[$0.key] == nil }.sorted { $0.key < $1.key }
        var isLate = false
        for (number, known) in live { try awaitLast(number, known.query, deadlineNs, &isLate) }
        defer { settled = versions.count }
        guard capabilities.hasContents else { return }
        try checkContents(contentsPromise, of: live.map(\.value.query))
        if isLate { return }
        let table = states[states.count - 1]
        for (number, known) in live {
            let shown = try contexts[known.context].run(timeoutNs: limitNs) { [subscription = known.subscription] in
                try subscription.currentItems()
            }
            if let problem = Convergence.difference(table.found(by: known.query), shown, known.query.order, store) {
                breaches.add(.lastState, "subscription \(number) shows in the end: \(problem)")
            }
        }
        // Deliveries that were queued before these blocks have run after them.
        for context in contexts { try context.run(timeoutNs: limitNs) {} }
    }

    /// Compares the store's evaluation of queries with the model.
    private mutating func checkContents(_ promise: ConformPromise, of queries: [Query] = []) throws {
        for query in [Query()] + queries {
            let expected = states[states.count - 1].found(by: query)
            let found = try store.contents(of: query)
            if let problem = Convergence.difference(expected, found, query.order, store) {
                breaches.add(promise, "after \(versions.count) commits, contents: \(problem)")
                throw Lost()
            }
        }
    }

    /// Waits until the last delivery of a subscription shows the final rows, or reports that the deadline has passed.
    private mutating func awaitLast(
        _ number: Int, _ query: Query, _ deadlineNs: Int64, _ isLate: inout Bool
    ) throws {
        let expected = states[states.count - 1].found(by: query)
        while true {
            let (deliveries, failure) = recorder.heard(number)
            if let failure { throw failure }
            if let last = deliveries.last {
                let isFinal: Bool
                if let covered = covered(by: last.content.version) {
                    isFinal = states[covered].found(by: query) == expected
                } else {
                    isFinal = last.shown.map { isEqual($0, expected, query) } ?? true
                }
                if isFinal { return }
            }
            if recorder.wait(number, after: deliveries.count, untilNs: deadlineNs) { continue }
            isLate = true
            let seconds = "within \(Double(limitNs) / 1e9) s"
            guard let last = deliveries.last else {
                return breaches.add(.initial, "subscription \(number) was not delivered \(seconds)", isTimeout: true)
            }
            let single = versions.count - settled == 1
            return breaches.add(
                single ? .covered : .lastState,
                "subscription \(number) was not delivered commit \(versions.count) \(seconds); its delivery "
                    + "\(last.number + 1), the last one, shows version \(last.content.version.map(String.init) ?? "none")",
                isTimeout: true)
        }
    }

    /// Compares shown rows with those of the model, as far as the driver shows them.
    func isEqual(_ shown: [Item], _ expected: [Item], _ query: Query) -> Bool {
        difference(expected, shown, query) == nil
    }

    func difference(_ expected: [Item], _ shown: [Item], _ query: Query) -> String? {
        guard capabilities.shows == .keys else { return Convergence.difference(expected, shown, query.order, store) }
        func bare(_ items: [Item]) -> [Item] { items.map { Item(key: $0.key, group: 0, score: 0, stamp: 0) } }
        return Convergence.difference(bare(expected), bare(shown), query.order, store)
    }

    // MARK: The end

    private mutating func close() throws {
        if let late = store as? any LateVersions { try order(late) }
        try store.close()
        for number in subscribed.keys where cancelled[number] == nil {
            cancelled[number] = .close
            recorder.end(number, allowed: 1)
        }
        for context in contexts { try context.run(timeoutNs: limitNs) {} }
        if let failure = recorder.state.withLock({ $0.failure }) { throw failure }
    }

    /// Puts the commits of a server into the order that the deliveries have shown.
    private mutating func order(_ late: any LateVersions) throws {
        let order = try late.order(ofCommits: versions, alsoShown: [])
        if let problem = order.problem { breaches.add(.serial, problem) }
        let ranked = versions.indices.sorted {
            order.versions[versions[$0], default: 0] < order.versions[versions[$1], default: 0]
        }
        changes = ranked.map { changes[$0] }
        versions = ranked.map { versions[$0] }
        for (index, commit) in changes.enumerated() {
            states[index + 1] = states[index]
            _ = states[index + 1].apply(commit)
        }
        standing = order.standing
    }
}

extension PrivateFolder {
    /// Makes a folder for a store in it, because the private folder itself is locked.
    func makeStoreFolder() throws -> String {
        let folder = path + "/store"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        return folder
    }
}
