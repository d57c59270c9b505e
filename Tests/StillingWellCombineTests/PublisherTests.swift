// Tests of publishers, on a scheduler that the test turns by hand.
import OpenCombine
import StillingWell
import StillingWellCombine
import StillingWellSync
import Testing

/// A subscriber that requests on the test's command and records what it receives.
final class Probe<Input>: Subscriber {
    typealias Failure = StoreError
    var values: [Input] = []
    var completion: Subscribers.Completion<StoreError>?
    var subscription: (any Subscription)?

    func receive(subscription: any Subscription) { self.subscription = subscription }

    func receive(_ input: Input) -> Subscribers.Demand {
        values.append(input)
        return .none
    }

    func receive(completion: Subscribers.Completion<StoreError>) { self.completion = completion }
}

@Suite("Publishers", .timeLimit(.minutes(15)))
final class PublisherTests: ThreeMemos {
    init() throws { try super.init { _ in } }

    private func change(_ id: Int, _ body: @escaping (Memo) -> Void) throws {
        try test.store.write { body(try #require(try $0.object(Memo.self, forPrimaryKey: id))) }
        _ = try connection.refresh()
    }

    @Test("whole results are published at first and after every change")
    func whole() throws {
        var seen: [[Int]] = []
        let cancellable = notes.publisher().sink(
            receiveCompletion: { _ in }, receiveValue: { seen.append($0.map(\.id)) })
        #expect(seen.isEmpty)
        try scheduler.turn { !seen.isEmpty }
        try change(0) { $0.score = 15 }
        #expect(seen == [[0, 1, 2], [1, 0, 2]])
        cancellable.cancel()
        try change(0) { $0.score = 0 }
        #expect(seen.count == 2)
    }

    @Test("nothing is published without demand; with demand, all missed changes arrive as one minimal change")
    func demand() throws {
        let probe = Probe<ResultsChange<Memo>>()
        notes.changePublisher().subscribe(probe)
        probe.subscription?.request(.max(1))
        try scheduler.turn { probe.values.count == 1 }
        guard case .initial = probe.values[0] else {
            Issue.record("\(probe.values)")
            return
        }
        for title in ["a", "b", "c"] { try change(1) { $0.title = title } }
        try test.store.write { try $0.add(Memo(id: 9, score: -1)) }
        _ = try connection.refresh()
        #expect(probe.values.count == 1)
        probe.subscription?.request(.max(1))
        try scheduler.turn { probe.values.count == 2 }
        guard case .update(_, let changes) = probe.values[1] else {
            Issue.record("\(probe.values)")
            return
        }
        #expect(changes.insertions == [0] && changes.modifications == [1] && changes.modificationsNew == [2])
        // Changes that cancel out between two requests are not delivered.
        try test.store.write { try $0.add(Memo(id: 10, score: -2)) }
        _ = try connection.refresh()
        try test.store.write { try $0.delete(try #require(try $0.object(Memo.self, forPrimaryKey: 10))) }
        _ = try connection.refresh()
        probe.subscription?.request(.max(1))
        try scheduler.turn()
        #expect(probe.values.count == 2)
        try change(1) { $0.title = "d" }
        #expect(probe.values.count == 3)
        probe.subscription?.cancel()
    }

    @Test("an object until it is deleted; its changes are merged by property without demand")
    func object() throws {
        let probe = Probe<ObjectChange<Memo>>()
        notes[1].changePublisher().subscribe(probe)
        try change(1) { $0.score = 11 }
        try change(1) { $0.score = 12 }
        probe.subscription?.request(.unlimited)
        try scheduler.turn { probe.values.count == 1 }
        guard case .change(_, let changes) = probe.values[0] else {
            Issue.record("\(probe.values)")
            return
        }
        #expect(changes.map(\.oldValue) == [.int(10)] && changes.map(\.newValue) == [.int(12)])
        try test.store.write { try $0.delete(try #require(try $0.object(Memo.self, forPrimaryKey: 1))) }
        _ = try connection.refresh()
        guard case .deleted = probe.values.last else {
            Issue.record("\(probe.values)")
            return
        }
        #expect(probe.completion == .finished)
    }

    @Test("an object whose row cannot be read fails its publishers")
    func unreadableObject() throws {
        try change(1) { $0.title = "needle" }
        let whole = Probe<ObjectChange<Memo>>()
        notes[1].changePublisher().subscribe(whole)
        whole.subscription?.request(.unlimited)
        let score = Probe<Int>()
        notes[1].publisher(for: \.score).subscribe(score)
        score.subscription?.request(.unlimited)
        try scheduler.turn { score.values.count == 1 }
        // Delivers what the requests are still waiting for, so that the next delivery is that of the commit.
        while try connection.refresh() {}
        try test.store.write { try #require(try $0.object(Memo.self, forPrimaryKey: 1)).score = 11 }
        try scheduler.waitForMail()
        try test.damagePages(with: "needle")
        try scheduler.turn { whole.completion != nil && score.completion != nil }
        for completion in [whole.completion, score.completion] {
            guard case .failure(let error) = completion else {
                Issue.record("\(String(describing: completion))")
                continue
            }
            // After its first failure the transaction can only report MDB_BAD_TXN.
            #expect("\(error)".contains("MDB_CORRUPTED") || "\(error)".contains("MDB_BAD_TXN"))
        }
        #expect(whole.values.isEmpty && score.values == [10])
    }

    @Test("a property: publishes its value, then each different value, including own writes")
    func property() throws {
        var seen: [Int] = []
        let cancellable = notes[1].publisher(for: \.score).sink(receiveCompletion: { _ in }) { seen.append($0) }
        try scheduler.turn { seen == [10] }
        try change(1) { $0.title = "unseen" }
        try change(1) { $0.score = 11 }
        try change(1) { $0.score = 11 }
        try connection.write { notes[1].score = 12 }
        _ = try connection.refresh()
        #expect(seen == [10, 11, 12])
        cancellable.cancel()
    }

    @Test("the store: publishes its changes, and finishes when the store is closed")
    func store() throws {
        var seen: [StoreNotification] = []
        var isFinished = false
        let cancellable = connection.changePublisher.sink(
            receiveCompletion: { isFinished = $0 == .finished }, receiveValue: { seen.append($0) })
        try change(1) { $0.score = 11 }
        #expect(seen == [.didChange])
        test.store.close()
        try scheduler.turn { isFinished }
        withExtendedLifetime(cancellable) {}
    }

    @Test("an object or query that cannot be observed fails the publisher with the reason")
    func failure() throws {
        var failure: StoreError?
        func fail(_ completion: Subscribers.Completion<StoreError>) {
            if case .failure(let error) = completion { failure = error }
        }
        let plain = Memo().changePublisher().sink(receiveCompletion: fail) { _ in }
        #expect(failure == .notStored(type: "Memo"))
        try test.store.read {
            _ = try $0.objects(Memo.self).publisher().sink(receiveCompletion: fail) { _ in }
        }
        #expect(failure == .noScheduler)
        withExtendedLifetime(plain) {}
    }

    @Test("a subscriber may cancel inside its own value, and from another thread")
    func cancelInside() throws {
        var cancellable: AnyCancellable?
        var count = 0
        cancellable = notes.publisher().sink(receiveCompletion: { _ in }) { _ in
            count += 1
            cancellable?.cancel()
        }
        try scheduler.turn { count == 1 }
        try change(1) { $0.score = 11 }
        #expect(count == 1)
        var more = 0
        nonisolated(unsafe) let other = notes.publisher().sink(receiveCompletion: { _ in }) { _ in more += 1 }
        TracedThread("canceller") { other.cancel() }.join()
        try change(1) { $0.score = 12 }
        #expect(more == 0)
    }

    @Test("the subscriber, the results and the connection are released after cancellation")
    func leaks() throws {
        final class Witness {}
        weak var witness: Witness?
        weak var gone: Connection?
        do {
            let scheduler = ManualScheduler()
            let connection = try test.store.connect(on: .scheduler(scheduler))
            gone = connection
            let held = Witness()
            witness = held
            var cancellables: Set<AnyCancellable> = []
            var count = 0
            let notes = try connection.objects(Memo.self)
            let memo = try #require(try connection.object(Memo.self, forPrimaryKey: 1))
            notes.publisher().sink(receiveCompletion: { _ in }) { _ in
                count += 1
                withExtendedLifetime(held) {}
            }.store(in: &cancellables)
            memo.publisher(for: \.score).sink(receiveCompletion: { _ in }) { _ in
                count += 1
                withExtendedLifetime(held) {}
            }.store(in: &cancellables)
            memo.changePublisher().sink(receiveCompletion: { _ in }) { _ in withExtendedLifetime(held) {} }
                .store(in: &cancellables)
            connection.changePublisher.sink(receiveCompletion: { _ in }) { _ in withExtendedLifetime(held) {} }
                .store(in: &cancellables)
            try scheduler.turn { count == 2 }
        }
        #expect(witness == nil)
        // Upkeep releases the mailbox and its pending messages on its own thread, in its next step.
        while gone != nil {
            try test.store.write { try #require(try $0.objects(Memo.self).first).score += 1 }
        }
        #expect(gone == nil)
    }
}
