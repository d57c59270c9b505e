// Changes deliveries on their way to the observer. Used on the delivery context only.
import Foundation
import Synchronization
import TidegaugeDriver

final class FaultySink: DeliverySink, @unchecked Sendable {
    private let sink: any DeliverySink
    private let fault: Fault?
    private var number = -1
    private var held: Delivery?
    /// The last delivery passed on.
    private(set) var last: Delivery?
    private(set) var isDelivering = false

    init(_ sink: any DeliverySink, _ fault: Fault?) {
        self.sink = sink
        self.fault = fault
    }

    func fail(_ error: any Error) { sink.fail(error) }

    func deliver(_ delivery: borrowing Delivery) {
        number += 1
        var changed = copy delivery
        guard let fault, number >= 5 || fault == .noInitial || fault == .lostLast else { return pass(changed) }
        switch fault {
        case .lostDelivery where number == 5: return
        case .lostLast where number > 0: return
        case .swappedDeliveries where number == 5: held = changed
        case .swappedDeliveries where number == 6:
            pass(changed)
            return pass(held!)
        case .repeatedDelivery where number == 5:
            pass(changed)
            return pass(changed)
        case .shiftedIndex:
            if let index = changed.insertions.first {
                changed.insertions[0] = index == 0 && changed.count > 1 ? 1 : max(0, index - 1)
                changed.insertions = Array(Set(changed.insertions)).sorted()
            }
            pass(changed)
        case .staleModification:
            if let last, let version = changed.version, version - (last.version ?? version) > 1 {
                changed.modifications = Self.oldIndices(changed)
            }
            pass(changed)
        case .lostModification:
            changed.modifications.removeAll()
            pass(changed)
        case .extraModification:
            let free = (0..<changed.count).first { index in
                !changed.modifications.contains(index) && !changed.insertions.contains(index)
            }
            if let free { changed.modifications = (changed.modifications + [free]).sorted() }
            pass(changed)
        case .needlessMove: pass(Self.withNeedlessMove(changed))
        case .wrongCount:
            changed.count += 1
            pass(changed)
        case .versionBack where number == 7:
            changed.version = 0
            pass(changed)
        case .secondInitial where number == 5:
            changed.isInitial = true
            pass(changed)
        case .noInitial:
            changed.isInitial = false
            pass(changed)
        case .tornSite:
            // An older version, while the other queries of the delivery context are at the new one.
            changed.version! -= 1
            pass(changed)
        case .versionAhead where number % 2 == 1:
            changed.version! += 1
            pass(changed)
        case .stuckObserver where number == 5: while true { sleep(1000) }
        case .failedSubscription where number == 5: sink.fail(FixtureError(description: "the fixture gave up"))
        default: pass(changed)
        }
    }

    /// Returns the modified rows' old indices, each limited to the last present index, so that it names a row.
    private static func oldIndices(_ delivery: Delivery) -> [Int] {
        let inserted = Set(delivery.insertions)
        let deleted = Set(delivery.deletions)
        let kept = (0..<delivery.count).filter { !inserted.contains($0) }
        let oldCount = delivery.count - delivery.insertions.count + delivery.deletions.count
        let wasKept = (0..<oldCount).filter { !deleted.contains($0) }
        let old = Dictionary(uniqueKeysWithValues: zip(kept, wasKept))
        return delivery.modifications.map { min(old[$0]!, delivery.count - 1) }.sorted()
    }

    /// Reports a row that was modified in place as deleted and inserted.
    private static func withNeedlessMove(_ delivery: Delivery) -> Delivery {
        guard delivery.deletions.isEmpty, delivery.insertions.isEmpty, let index = delivery.modifications.first else {
            return delivery
        }
        var changed = delivery
        changed.modifications.removeFirst()
        changed.deletions = [index]
        changed.insertions = [index]
        changed.moveCount = 1
        return changed
    }

    func pass(_ delivery: Delivery) {
        last = delivery
        isDelivering = true
        sink.deliver(delivery)
        isDelivering = false
    }
}

final class FaultySubscription: AnsweringSubscription, WholeRowSubscription, @unchecked Sendable {
    private let inner: any DriverSubscription
    private let sink: FaultySink
    private let fault: Fault?
    private var answers = 0
    private var answered: ReadAnswer?

    init(_ inner: any DriverSubscription, _ sink: FaultySink, _ fault: Fault?) {
        self.inner = inner
        self.sink = sink
        self.fault = fault
    }

    func cancel() {
        // Simulates an engine that never checks whether a token was cancelled.
        if fault != .calledAfterCancel, fault != .lateCall { inner.cancel() }
    }

    func answer(_ question: ReadQuestion) throws -> ReadAnswer {
        var answer = try (inner as! any AnsweringSubscription).answer(question)
        answers += 1
        if fault == .failedAnswer, answers == 3 { throw FixtureError(description: "the fixture gave up") }
        if fault == .staleAnswer, answers % 5 == 0, let answered { answer.value = answered.value }
        answered = answer
        return answer
    }

    func forEachShownRow(_ indices: Range<Int>, _ body: (WholeRow) -> Void) throws {
        let inner = inner as! any WholeRowSubscription
        try inner.forEachShownRow(indices) { row in
            var row = row
            if fault == .staleText, row.item.stamp != 0, !sink.isDelivering { row.text = "as it was" }
            if fault == .tornCounterpart, sink.isDelivering {
                row.counterpartStamp = row.counterpartStamp.map { $0 - 1 }
            }
            body(row)
        }
    }

    func currentItems() throws -> [Item] {
        var items = try inner.currentItems()
        if fault == .tornRead, let first = items.first, first.stamp != 0 { items[0].stamp = first.stamp - 1 }
        if fault == .halfApplied, sink.isDelivering, let last = sink.last,
            let index = last.modifications.last ?? last.insertions.last, items.indices.contains(index)
        {
            items[index].stamp -= 1
        }
        return fault == .staleCollection ? items.dropLast() : items
    }
}
