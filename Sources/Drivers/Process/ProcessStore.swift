// A store in another process, one process for each. Requests are in RequestText.swift, replies in EngineMessage.swift.
//
// `lastNumber` numbers writers and subscriptions together. It is an atomic.
import Foundation
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure

final class ProcessStore: ServedStore, WorkCounting, RenumberedStore {
    private let link: EngineLink
    private let directory: String
    private let facts: EngineIntroduction.Facts
    private let sites = SiteMap<ProcessSite>("engine sites")
    private let lastNumber = Atomic<Int>(0)
    /// Maximum number of rows in a `load` request.
    private static let rowsPerRequest = 10_000

    /// Starts the engine and opens its store.
    init(_ engine: KnownEngine, _ configuration: StoreConfiguration) throws {
        guard configuration.server == ServerConfiguration(), configuration.address == nil else {
            throw DriverUnavailable("an engine in a process of its own is no server: leave out the keys 'server.…'")
        }
        (directory, facts) = (configuration.directory, engine.introduction.facts)
        link = try EngineLink(engine.program, silenceLimitNs: configuration.silenceLimitNs, logs: true)
        let introduction = try EngineIntroduction(try Self.hello(link))
        if introduction != engine.introduction {
            throw link.fail(
                ProcessFailure(.facts, "its reply to 'hello' differs from that at the beginning of the run"))
        }
        var request = RequestText("open")
        request.field("directory", text: directory)
        request.field("durability", text: configuration.durability.rawValue)
        _ = try link.call(request)
    }

    static func hello(_ link: EngineLink) throws -> EngineMessage {
        var request = RequestText("hello")
        request.field("protocol", 1)
        return try link.call(request).message
    }

    func load(count: Int, item: (Int) -> Item) throws {
        for start in stride(from: 0, to: count, by: Self.rowsPerRequest) {
            var request = RequestText("load")
            request.field("rows")
            for index in start..<min(start + Self.rowsPerRequest, count) {
                request.add(index == start ? "[" : ",")
                try request.add(row: item(index))
            }
            request.add("]")
            _ = try link.call(request)
        }
    }

    func makeWriter() throws -> any StoreWriter {
        let number = nextNumber()
        var request = RequestText("writer")
        request.field("writer", number)
        _ = try link.call(request)
        return ProcessWriter(number, link, hasVersions: facts.versions != EngineIntroduction.Versions.none)
    }

    private func nextNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any DriverSubscription {
        let place = sites.value(at: site) { ProcessSite(site) }
        let subscription = ProcessSubscription(nextNumber(), query, self, place, sink)
        var request = RequestText("subscribe")
        request.field("sub", subscription.number)
        try request.add(query)
        try link.subscribe(subscription, subscription.number, request)
        return subscription
    }

    func cancel(_ subscription: Int) throws {
        var request = RequestText("cancel")
        request.field("sub", subscription)
        do {
            _ = try link.call(request, .ends(subscription))
        } catch let refusal as EngineRefusal {
            throw link.fail(ProcessFailure(.order, refusal.description))
        }
    }

    /// Returns how a delivery contradicts the engine's facts or its own count, or nil.
    func contradiction(in delivery: EngineMessage) -> String? {
        if delivery.version == nil, facts.versions != EngineIntroduction.Versions.none {
            return "a delivery has no 'version': state \"versions\": \"none\", or add it"
        }
        if facts.changeSets == true, !delivery.isInitial, !delivery.hasChangeSet {
            return "a delivery has none of 'deletions', 'insertions' and 'modifications', which its facts promise"
        }
        switch facts.shows ?? .none {
        case .rows where delivery.rows == nil: return "a delivery has no 'rows', which its facts promise"
        case .keys where delivery.keys == nil: return "a delivery has no 'keys', which its facts promise"
        case .rows, .keys, .none: break
        }
        let shown = delivery.rows?.count ?? delivery.keys?.count
        guard let shown, shown != delivery.count else { return nil }
        return "a delivery shows \(shown) rows and states 'count' \(delivery.count ?? 0)"
    }

    func contents(of query: Query) throws -> [Item] {
        var request = RequestText("contents")
        try request.add(query)
        guard let rows = try link.call(request).message.rows else {
            throw link.fail(ProcessFailure(.order, "its reply to 'contents' has no 'rows'"))
        }
        return rows.map(NarrowNumber.wideItem)
    }

    func engineRow(_ row: Item) -> Item { NarrowNumber.engineItem(row) }

    /// Returns the bytes of all files in the store's folder and its subfolders.
    func fileBytes() throws -> Int {
        let files = FileManager.default
        return try files.subpathsOfDirectory(atPath: directory).reduce(0) { sum, name in
            let attributes = try files.attributesOfItem(atPath: "\(directory)/\(name)")
            return sum + (attributes[.type] as? FileAttributeType == .typeRegular ? attributes[.size] as? Int ?? 0 : 0)
        }
    }

    func serverCPU() -> [String: Int64]? { ["engine": link.cpuNs()] }

    func counters() throws -> [String: Int] {
        let names = facts.counters ?? []
        if names.isEmpty { return [:] }
        let counters = try link.call(RequestText("counters")).message.counters ?? [:]
        guard Set(counters.keys) == Set(names) else {
            throw link.fail(
                ProcessFailure(
                    .facts,
                    "its reply to 'counters' has \(counters.keys.sorted()), and its facts name \(names.sorted())"))
        }
        return counters
    }

    func asleepElsewhereNs() -> Int64? { link.asleepNs() }

    func close() throws {
        for site in sites.removeAll() { site.end() }
        try link.close()
    }
}

/// The store of an engine whose fact `contents` is false: its rows cannot be read.
final class RowlessProcessStore: ServedStore, WorkCounting, RowlessStore {
    private let base: ProcessStore

    init(_ base: ProcessStore) { self.base = base }

    func load(count: Int, item: (Int) -> Item) throws { try base.load(count: count, item: item) }
    func makeWriter() throws -> any StoreWriter { try base.makeWriter() }
    func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any DriverSubscription {
        try base.subscribe(to: query, at: site, sink: sink)
    }
    func fileBytes() throws -> Int { try base.fileBytes() }
    func serverCPU() -> [String: Int64]? { base.serverCPU() }
    func counters() throws -> [String: Int] { try base.counters() }
    func asleepElsewhereNs() -> Int64? { base.asleepElsewhereNs() }
    func close() throws { try base.close() }
}

/// Used by one thread.
private final class ProcessWriter: SelfTimedWriter {
    private let link: EngineLink
    private let number: Int
    private let hasVersions: Bool
    private var request = RequestText("commit")
    private var isPrepared = false
    private(set) var lastTimes: CommitTimes?

    init(_ number: Int, _ link: EngineLink, hasVersions: Bool) {
        (self.number, self.link, self.hasVersions) = (number, link, hasVersions)
    }

    func prepare(_ changes: UnsafeBufferPointer<Change>) throws {
        request.restart()
        request.field("writer", number)
        try request.add(changes)
        isPrepared = true
    }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        if !isPrepared { try prepare(changes) }
        isPrepared = false
        let reply = try link.call(request)
        let message = reply.message
        guard let begunNs = message.begunNs, let doneNs = message.doneNs else {
            throw link.fail(ProcessFailure(.order, "its reply to 'commit' lacks 'begun' or 'done'"))
        }
        if hasVersions, message.version == nil {
            throw link.fail(ProcessFailure(.facts, "its reply to 'commit' has no 'version', which its facts promise"))
        }
        let lockedNs = message.lockedNs ?? begunNs
        guard reply.sentNs <= begunNs, begunNs <= lockedNs, lockedNs <= doneNs, doneNs <= reply.receivedNs else {
            throw link.fail(
                ProcessFailure(
                    .time,
                    "the times of a commit are not in order: sent \(reply.sentNs), begun \(begunNs), locked \(lockedNs), "
                        + "done \(doneNs), received \(reply.receivedNs)"))
        }
        // The lock has been released by now. Its time is in `lastTimes`.
        locked()
        lastTimes = CommitTimes(sentNs: reply.sentNs, lockedNs: lockedNs, doneNs: doneNs)
        return message.version
    }
}
