// One observer: receives and records deliveries. It runs inside an engine's callback, so recording takes no lock and
// allocates nothing.
//
// `recorder` is written on the observer's delivery context, and used elsewhere only after `DeliveryContext.run`. Other
// threads may read `covered` and `callbacks` at any time.
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeTrial

/// A sink that records. Engines call it on its delivery context.
final class Observer: DeliverySink {
    let name: String
    /// Index of its query in `QueryAssignment.queries`; -1 for a late subscriber.
    let query: Int
    let site: DeliveryContext
    /// Whether its callbacks are counted, but not measured. True for idle queries, whose rows no commit changes, and
    /// for late subscribers (`ObserverGroup.subscribeLate`).
    let isIdle: Bool
    let recorder: CallbackRecorder
    /// Nil if the rows in callbacks are not sampled.
    let sampler: RowSampler?
    /// Nil if callbacks read nothing.
    let reader: CallbackReader?
    private let coveredVersion = Atomic<Int64>(.min)
    private let callbackCount = Atomic<Int>(0)
    private let failure = Guarded<(any Error)?>("observer failure", nil)

    // Set in `init` or on the delivery context, and read elsewhere only after `DeliveryContext.run`.
    nonisolated(unsafe) var subscription: (any DriverSubscription)?
    private let subscribed = Atomic<Int64>(0)
    /// The time of the subscription.
    var subscribedNs: Int64 {
        get { subscribed.load(ordering: .relaxed) }
        set { subscribed.store(newValue, ordering: .relaxed) }
    }

    init(
        name: String, query: Int, site: DeliveryContext, isIdle: Bool, capacity: Int, indexCapacity: Int,
        prefaulted: Int = 256, sampler: RowSampler? = nil, reader: CallbackReader? = nil
    ) throws {
        (self.name, self.query, self.site, self.isIdle) = (name, query, site, isIdle)
        (self.sampler, self.reader) = (sampler, reader)
        recorder = try CallbackRecorder(
            capacity: capacity, indexCapacity: indexCapacity, prefaulted: isIdle ? 0 : min(capacity, prefaulted))
    }

    /// Makes an observer from the records of one in another process.
    init(
        _ name: String, query: Int, site: DeliveryContext, recorder: CallbackRecorder,
        showing subscription: any DriverSubscription, subscribedNs: Int64
    ) {
        (self.name, self.query, self.site, self.recorder) = (name, query, site, recorder)
        (isIdle, sampler, reader) = (false, nil, nil)
        (self.subscription, self.subscribedNs) = (subscription, subscribedNs)
    }

    func deliver(_ delivery: borrowing Delivery) {
        let enterNs = delivery.atNs ?? MonotonicClock.nowNs()
        note(delivery, enterNs: enterNs)
        if let reader, let subscription { reader.read(subscription, callback: recorder.records.count - 1) }
        // An engine in another process has called its application there, at that time.
        finish(exitNs: delivery.atNs ?? MonotonicClock.nowNs())
        if let sampler, let subscription { sampler.look(delivery, callback: recorder.records.count - 1, subscription) }
    }

    /// Records a delivery. Separate from `deliver`, so that its cost can be measured without that of the clock.
    @inline(__always)
    func note(_ delivery: borrowing Delivery, enterNs: Int64) {
        recorder.record(
            enterNs: enterNs, version: delivery.version, isInitial: delivery.isInitial, count: delivery.count,
            deletions: delivery.deletions, insertions: delivery.insertions, modifications: delivery.modifications,
            moveCount: delivery.moveCount)
        coveredVersion.store(delivery.version ?? 0, ordering: .relaxed)
        callbackCount.store(callbackCount.load(ordering: .relaxed) + 1, ordering: .releasing)
    }

    @inline(__always)
    func finish(exitNs: Int64) { recorder.finish(exitNs: exitNs) }

    func fail(_ error: any Error) { failure.withLock { if $0 == nil { $0 = error } } }

    /// Number of callbacks begun; any thread.
    var callbacks: Int { callbackCount.load(ordering: .acquiring) }
    /// The version of the last callback, 0 if it has none; `.min` before the first callback. Any thread.
    var covered: Int64 { coveredVersion.load(ordering: .relaxed) }

    /// Returns the first callback from `count` on that began after `cancelledNs`, the time of cancellation.
    func late(from count: Int, cancelledNs: Int64) -> (callback: Int, version: Int64)? {
        let records = recorder.records
        return (count..<records.count).first { records[$0].enterNs > cancelledNs }.map { ($0, records[$0].version) }
    }

    /// Releases the subscription, which holds this observer. Asynchronous, on the delivery context.
    func forget() { site.perform { [self] in subscription = nil } }

    func throwIfFailed() throws {
        if let failure = failure.withLock({ $0 }) {
            throw TrialFault.store("\(name): its subscription ended", failure)
        }
    }
}

/// The records of an observer at one moment. Make and read it after `DeliveryContext.run` of the observer's context.
struct ObserverLog: Sendable {
    let observer: Observer
    /// Number of callbacks at that moment; later ones are ignored.
    let count: Int

    init(_ observer: Observer) {
        self.observer = observer
        count = observer.recorder.records.count
    }

    var records: Slice<RecordBuffer<CallbackRecord>> { observer.recorder.records.prefix(count) }

    subscript(index: Int) -> CallbackRecord { observer.recorder.records[index] }

    func delivered(_ index: Int) -> ChangeSetReplay.Delivered? {
        let record = self[index]
        let recorder = observer.recorder
        guard let deletions = recorder.deletions(of: record), let insertions = recorder.insertions(of: record),
            let modifications = recorder.modifications(of: record)
        else { return nil }
        return .init(
            count: Int(record.count), deletions: deletions, insertions: insertions, modifications: modifications,
            moveCount: Int(record.moveCount))
    }
}
