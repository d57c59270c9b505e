// Tests of the delivery of `fetched-results-legacy` in cases that do not deadlock.
import Dispatch
import Foundation
import StillingWell
import StillingWellSync
import Testing
import TidegaugeDriver
import TidegaugeFetchedResultsDriver
import TidegaugeFlawedDriver
import TidegaugeSpec

@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite struct LegacyDeliveryTests {
    private static let patienceNs: Int64 = 60_000_000_000
    private static let byScore = Query(order: .scoreAscending)

    /// `lock` guards the deliveries and errors.
    private final class Kept: DeliverySink, @unchecked Sendable {
        private let lock = TracedMutex("kept deliveries")
        private var deliveries: [Delivery] = []
        private var errors: [String] = []

        func deliver(_ delivery: borrowing Delivery) {
            let delivery = copy delivery
            lock.withLock { deliveries.append(delivery) }
        }
        func fail(_ error: any Error) { lock.withLock { errors.append("\(error)") } }

        var count: Int { lock.withLock { deliveries.count } }
        var last: Delivery? { lock.withLock { deliveries.last } }
        var problems: [String] { lock.withLock { errors } }
    }

    private func withStore(_ body: (ControlledStore) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("legacy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try LegacyDriver().open(.init(directory: directory.path, durability: .memory))
        try store.load(count: 6) { Item(key: Int64($0), group: 0, score: Int64($0) * 100, stamp: 0) }
        try body(store)
        try store.close()
    }

    private func subscribe(
        _ sink: Kept, _ site: DeliveryContext, _ store: ControlledStore
    ) throws -> any DriverSubscription {
        let place = site.deliverySite
        return try site.run(timeoutNs: Self.patienceNs) { try store.subscribe(to: Self.byScore, at: place, sink: sink) }
    }

    @Test(arguments: [ObserversSpec.Deliver.runLoop, .queue])
    func whoCommitsWaitsForTheObserver(_ place: ObserversSpec.Deliver) throws {
        try withStore { store in
            let site = DeliveryContext("interface", place)
            defer { site.stop() }
            let sink = Kept()
            let subscription = try subscribe(sink, site, store)
            #expect(sink.count == 1 && sink.last?.isInitial == true && sink.last?.count == 6)
            let version = try store.makeWriter().commit([
                Change(.delete, Item(key: 0, group: 0, score: 0, stamp: 0)),
                Change(.updateScore, Item(key: 1, group: 0, score: 1_000, stamp: 1)),
                Change(.touch, Item(key: 3, group: 0, score: 0, stamp: 1)),
                Change(.insert, Item(key: 9, group: 0, score: 250, stamp: 1)),
            ])
            // The observer was called before the commit returned.
            #expect(sink.count == 2)
            let delivery = try #require(sink.last)
            #expect(delivery.version == version && !delivery.isInitial && delivery.count == 6)
            #expect(delivery.deletions == [0, 1] && delivery.insertions == [1, 5])
            #expect(delivery.modifications == [2] && delivery.moveCount == 1)
            let shown = try site.run(timeoutNs: Self.patienceNs) { try subscription.currentItems() }
            #expect(try shown == store.contents(of: Self.byScore) && shown.map(\.key) == [2, 9, 3, 4, 5, 1])
            // Commits on the observer's own thread are delivered at once.
            let calls = try site.run(timeoutNs: Self.patienceNs) {
                _ = try store.makeWriter().commit([Change(.delete, Item(key: 9, group: 0, score: 0, stamp: 0))])
                return sink.count
            }
            #expect(calls == 3 && sink.last?.deletions == [1])
            subscription.cancel()
            _ = try store.makeWriter().commit([Change(.delete, Item(key: 2, group: 0, score: 0, stamp: 0))])
            #expect(sink.count == 3 && sink.problems.isEmpty)
        }
    }

    @Test func aStoreThatCannotBeReadIsSaidSoOnce() throws {
        try withStore { store in
            let site = DeliveryContext("interface", .queue)
            defer { site.stop() }
            let sink = Kept()
            let subscription = try subscribe(sink, site, store)
            var held: [FrozenResults<ShownRow>] = []
            #expect(throws: StoreError.self) {
                while true { held.append(try store.store.read { try $0.objects(ShownRow.self).freeze() }) }
            }
            let writer = store.makeWriter()
            for key in [7, 8] as [Int64] {
                _ = try writer.commit([Change(.insert, Item(key: key, group: 0, score: key * 100, stamp: 1))])
            }
            #expect(sink.problems.count == 1 && sink.problems.first?.contains("snapshots") == true, "\(sink.problems)")
            #expect(sink.count == 1)
            held = []
            let again = Kept()
            let second = try subscribe(again, site, store)
            _ = try writer.commit([Change(.insert, Item(key: 9, group: 0, score: 900, stamp: 1))])
            #expect(again.last?.insertions == [8] && sink.count == 1)
            subscription.cancel()
            second.cancel()
        }
    }
}
