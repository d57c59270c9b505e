// The contract of every driver, checked by direct calls and by whole trials with the oracle. It returns complaints
// instead of failing, so that a test can require complaints about a faulty driver.
import Foundation
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

@testable import TidegaugeTrialRunner

/// One driver under test.
struct Conformance {
    let driver: any StoreDriver
    /// Time limit in ns for an expected delivery.
    var patienceNs: Int64 = 300_000_000_000

    var capabilities: Capabilities { driver.capabilities }

    /// Kinds of delivery context that the driver supports.
    var places: [ObserversSpec.Deliver] {
        ObserversSpec.Deliver.allCases.filter {
            capabilities.sites.contains($0 == .runLoop ? .runLoop : .queue)
        }
    }

    /// A check with its name.
    struct Check: Sendable {
        var name: String
        var run: @Sendable (Conformance, ObserversSpec.Deliver) throws -> [String]
    }

    static let checks = [
        Check(name: "first is initial") { try $0.firstIsInitial($1) },
        Check(name: "every commit is covered") { try $0.everyCommitIsCovered($1) },
        Check(name: "many threads") { try $0.manyThreads($1) },
        Check(name: "a commit that fails") { try $0.aCommitThatFails($1) },
        Check(name: "beside a writer") { try $0.besideAWriter($1) },
        Check(name: "calls on the site") { try $0.callsOnTheSite($1) },
        Check(name: "cancel") { try $0.cancel($1) },
        Check(name: "close") { try $0.close($1) },
        Check(name: "oracle") { try $0.oracle($1) },
    ]

    /// Returns the complaints of the first check that has any. Empty for a driver that conforms.
    func complaints(_ checks: [Check] = Self.checks) -> [String] {
        for check in checks {
            for place in places {
                let complaints: [String]
                do { complaints = try check.run(self, place) } catch { complaints = ["\(error)"] }
                if !complaints.isEmpty { return complaints.map { "\(check.name), \(place.rawValue): \($0)" } }
            }
        }
        return []
    }

    // MARK: What the checks stand on

    static let loaded = 60
    /// The upper half of the scores: keys 30 ..< 60.
    static let upper = Query(scores: 3_000..<Int64.max, order: .scoreDescending)
    static let all = Query(order: .scoreAscending)

    static func item(_ index: Int) -> Item {
        Item(key: Int64(index), group: index % 7 == 0 ? 1 : 0, score: Int64(index) * 100, stamp: 0)
    }

    /// Runs `body` with a loaded store and the rows that it should have.
    func withStore(_ body: (any DrivenStore, Rows) throws -> [String]) throws -> [String] {
        let directory = NSTemporaryDirectory() + "tidegauge-conformance-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let durability = capabilities.durabilities.contains(.memory) ? DurabilityLevel.memory : .relaxed
        let store = try driver.open(StoreConfiguration(directory: directory, durability: durability))
        try store.load(count: Self.loaded) { Self.item($0) }
        let complaints = try body(store, Rows((0..<Self.loaded).map(Self.item)))
        try store.close()
        return complaints
    }

    func withSite(_ place: ObserversSpec.Deliver, _ body: (DeliveryContext) throws -> [String]) throws -> [String] {
        let site = DeliveryContext("observer-0", place)
        defer { site.stop() }
        return try body(site)
    }

    /// Subscribes and waits for the initial delivery.
    func watch(_ query: Query, _ site: DeliveryContext, _ store: any DrivenStore) throws -> Listener {
        let listener = try Listener.subscribe(query, site, store, patienceNs)
        guard listener.wait(untilNs: deadlineNs, { $0.isEmpty == false }) else {
            throw Complaint("a subscription has had no initial delivery")
        }
        return listener
    }

    var deadlineNs: Int64 { MonotonicClock.nowNs() + patienceNs }

    /// Returns where the rows of a subscription or of the store differ from the expected rows.
    func differences(_ listener: Listener, _ store: any DrivenStore, _ rows: Rows) throws -> [String] {
        guard capabilities.hasContents else { return [] }
        let expected = rows.found(by: listener.query)
        let shown = try listener.currentItems(patienceNs)
        let found = try store.contents(of: listener.query)
        return [("the live collection", shown), ("the store's evaluation", found)].compactMap { name, items in
            Convergence.difference(expected, items, listener.query.order, store).map { "\(name): \($0)" }
        }
    }

    struct Complaint: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }
}

/// The rows that a store should have.
struct Rows {
    private var items: [Int64: Item]

    init(_ items: [Item]) { self.items = Dictionary(uniqueKeysWithValues: items.map { ($0.key, $0) }) }

    mutating func apply(_ change: Change) {
        switch change.operation {
        case .insert: items[change.item.key] = change.item
        case .updateScore:
            items[change.item.key]!.score = change.item.score
            items[change.item.key]!.stamp = change.item.stamp
        case .touch, .moveToFront: items[change.item.key]!.stamp = change.item.stamp
        case .delete: items[change.item.key] = nil
        }
    }

    func found(by query: Query) -> [Item] {
        let found = items.values.filter { query.matches(key: $0.key, group: $0.group, score: $0.score) }
        switch query.order {
        case .none, .list: return found.sorted { $0.key < $1.key }
        case .scoreAscending: return found.sorted { $0.score < $1.score }
        case .scoreDescending: return found.sorted { $0.score > $1.score }
        }
    }
}

extension StoreWriter {
    func commit(_ changes: [Change], locked: () -> Void = {}) throws -> Int64? {
        try changes.withUnsafeBufferPointer { try commit($0, locked: locked) }
    }
}
