// A task that iterates over an asynchronous sequence of changes and checks each element. It sometimes pauses or writes
// between elements. It runs on the concurrency pool, not on a delivery context.
//
// `lock` guards `told`.
import StillingWell
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellSync

enum LoopPlan: Sendable {
    case rows(Query, columns: [Column]?)
    case object(key: Int)
    case store
    /// A sequence made by the store, on a connection of its own.
    case ownConnection(Query)

    init(_ plan: Plan, _ random: inout SeededRandom) {
        switch random.below(6) {
        case 0: self = .store
        case 1: self = .object(key: random.below(plan.smallKeys))
        case 2: self = .ownConnection(random.one(of: plan.queries))
        default: self = .rows(random.one(of: plan.queries), columns: random.oneIn(4) ? [] : nil)
        }
    }
}

final class ChangeLoop: @unchecked Sendable {
    private struct Told {
        var isBegun = false
        var version: UInt64 = 0
        var ids: [ObjectID] = []
        var values: [String: ColumnValue] = [:]
        var isDeleted = false
    }

    let name: String
    private let plan: LoopPlan
    private let load: Load
    private let commit: Commit
    /// Version of the connection when the loop was made.
    let madeAt: UInt64
    private let lock = TracedMutex("loop over changes")
    private var told = Told()
    private var task: Task<Void, Never>?
    private var objectID: ObjectID?

    /// Subscribes. Must be called on the site's delivery context. Returns nil if the object does not exist.
    init?(_ name: String, _ plan: LoopPlan, _ site: Site, _ connection: Connection) throws {
        self.name = "\(site.name), \(name): a loop over \(plan)"
        self.plan = plan
        load = site.load
        madeAt = connection.version
        commit = Commit(writer: load.plan.siteWriter(site.number), plan: load.plan)
        let random = load.plan.random("\(name) of site \(site.number)")
        switch plan {
        case .rows(let query, let columns):
            switch query.table {
            case .small: try begin(query, query.results(SmallRow.self, connection), columns, random)
            case .large: try begin(query, query.results(LargeRow.self, connection), columns, random)
            }
        case .ownConnection(let query):
            switch query.table {
            case .small: try beginAlone(query, SmallRow.self, site.store(), random)
            case .large: try beginAlone(query, LargeRow.self, site.store(), random)
            }
        case .store:
            told = Told(isBegun: true, version: connection.version)
            let changes = try connection.changes()
            start { loop in try await loop.followStore(changes, random) }
        case .object(let key):
            guard let row = try site.freshObject(key, connection) else { return nil }
            let now = RowValue(row)
            objectID = now.id
            told = Told(isBegun: true, values: now.values)
            let changes = try row.changes()
            start { loop in try await loop.followObject(changes, random) }
        }
    }

    private func begin<Object: StressRow>(
        _ query: Query, _ results: Results<Object>, _ columns: [Column]?, _ random: SeededRandom
    ) throws {
        let changes = try results.changes(keyPaths: columns.map { $0.map { $0.keyPath(Object.self) } })
        start { loop in try await loop.followRows(changes, .asyncRows, random) }
    }

    private func beginAlone<Object: StressRow>(
        _ query: Query, _ type: Object.Type, _ store: Store, _ random: SeededRandom
    ) throws {
        // `Store.changes(of:)` takes a block that cannot throw, so the query must be typed.
        var typed = query
        typed.isText = false
        let changes = store.changes(of: type) { [typed] in typed.refine($0) }
        start { loop in try await loop.followRows(changes, .asyncOfStore, random) }
    }

    private func start(_ body: @escaping @Sendable (ChangeLoop) async throws -> Void) {
        load.loops.add()
        task = Task { [self] in
            do {
                try await body(self)
            } catch is CancellationError where Task.isCancelled {
                // The task was cancelled, which is no violation.
            } catch {
                load.verdict.report(.noError, name, "\(error)")
            }
            load.loops.add(-1)
        }
    }

    func cancel() { task?.cancel() }

    /// Whether the initial element has come. True for sequences without one.
    var hasBegun: Bool { lock.withLock { told.isBegun } }

    // MARK: Following

    private func followRows<Object: StressRow>(
        _ changes: LiveChanges<ResultsUpdate<Object>>, _ feature: Feature, _ seed: SeededRandom
    ) async throws {
        var random = seed
        for try await update in changes {
            lock.withLock { take(update) }
            load.tally.count(feature)
            try await rest(&random)
        }
    }

    /// The caller must hold `lock`.
    private func take<Object: StressRow>(_ update: ResultsUpdate<Object>) {
        let isFirst = !told.isBegun
        load.verdict.expect(
            .i3, isFirst || update.version > told.version, name, "version \(update.version) after \(told.version)")
        load.verdict.expect(
            .i1, isFirst == (update.changes == nil), name, "\(isFirst ? "first changes" : "a second first element")")
        if let changes = update.changes {
            let problem = ChangeSetReplay.apply(changes, to: &told.ids, id: { $0 }) {
                $0 < update.count ? update.objectID(at: $0) : nil
            }
            load.verdict.expectNone(.i1, problem.map { "\($0)\n\(ToldChanges(changes).text)" }, name)
        } else {
            told.ids = update.objectIDs
        }
        load.verdict.expectNone(.i1, Difference.first("told", told.ids, "there", update.objectIDs), name)
        told.isBegun = true
        told.version = update.version
    }

    private func followStore(_ changes: LiveChanges<StoreEvent>, _ seed: SeededRandom) async throws {
        var random = seed
        for try await event in changes {
            lock.withLock {
                let isLater =
                    event.notification == .didChange ? event.version > told.version : event.version >= told.version
                load.verdict.expect(.i3, isLater, name, "\(event) after version \(told.version)")
                told.version = event.version
            }
            load.tally.count(.asyncStores)
            try await rest(&random)
        }
    }

    private func followObject(_ changes: LiveChanges<ObjectEvent>, _ seed: SeededRandom) async throws {
        var random = seed
        for try await event in changes {
            lock.withLock { take(event) }
            load.tally.count(.asyncObjects)
            try await rest(&random)
        }
    }

    /// The caller must hold `lock`.
    private func take(_ event: ObjectEvent) {
        load.verdict.expect(.i4, !told.isDeleted, name, "\(event) after the deletion")
        guard case .changed(let changes) = event else {
            told.isDeleted = true
            return
        }
        for change in changes {
            let known = told.values[change.name] ?? .null
            load.verdict.expect(.i1, change.oldValue == known, name, "\(change.name) was \(known), told was \(change)")
            told.values[change.name] = change.newValue
        }
    }

    /// Pauses or writes between two elements. Mostly does nothing.
    private func rest(_ random: inout SeededRandom) async throws {
        guard !load.isStopping else { return }
        if random.oneIn(40) { try? await Task.sleep(nanoseconds: UInt64(random.from(1...80)) * 1_000_000) }
        guard random.oneIn(40), load.gate.tryEnter() else { return }
        defer { load.gate.leave() }
        // The write runs on another thread, so it has a random stream of its own.
        let seed = random.next()
        let commit = commit
        try await load.store.write { connection in
            var random = SeededRandom(seed: seed, actor: "asynchronous write")
            try commit.make(connection, &random)
        }
        load.tally.count(.asyncCommits)
    }

    // MARK: At rest

    /// Whether the last element is the state at the connection's version, which is the last version.
    func isAtRest(_ site: Site, _ connection: Connection) -> Bool {
        let told = lock.withLock { self.told }
        switch plan {
        case .store: return told.version == connection.version
        case .object:
            guard let rows = site.rows(.small, connection) else { return true }
            guard let row = rows.first(where: { $0.id == objectID }) else { return told.isDeleted }
            return !told.isDeleted && told.values == row.values
        case .rows(let query, _), .ownConnection(let query):
            guard let rows = site.rows(query.table, connection) else { return true }
            return told.isBegun && told.ids == query.evaluate(rows).map(\.id)
        }
    }

    var standingText: String {
        let told = lock.withLock { self.told }
        return "\(name) was told version \(told.version), rows \(told.ids.map(\.rawValue)), values \(told.values)"
    }
}
