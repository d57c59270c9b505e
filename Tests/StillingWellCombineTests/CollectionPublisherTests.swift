// Tests of publishers of lists and sections, and of writes that skip the tokens of publishers.
import OpenCombine
import StillingWell
import StillingWellCombine
import StillingWellSync
import Testing

@Suite("Publishers of lists and sections, and their tokens", .timeLimit(.minutes(15)))
final class CollectionPublisherTests: ThreeMemos {
    init() throws { try super.init { try $0.add(Shelf(id: 0)) } }

    private func add(_ id: Int, score: Int) throws {
        try test.store.write { try $0.add(Memo(id: id, score: score)) }
        _ = try connection.refresh()
    }

    private func addSilently(_ id: Int, score: Int, _ token: NotificationToken) throws {
        try connection.write(withoutNotifying: [token]) { try connection.add(Memo(id: id, score: score)) }
        _ = try connection.refresh()
    }

    @Test("a list: publishes its initial content, then changes of the list")
    func list() throws {
        let shelf = try #require(try connection.object(Shelf.self, forPrimaryKey: 0))
        let probe = Probe<ListChange<Memo>>()
        shelf.memos.changePublisher().subscribe(probe)
        probe.subscription?.request(.max(1))
        try scheduler.turn { probe.values.count == 1 }
        guard case .initial(let list) = probe.values[0] else {
            Issue.record("\(probe.values)")
            return
        }
        #expect(list.isEmpty)
        var sizes: [Int] = []
        let cancellable = shelf.memos.publisher().sink(receiveCompletion: { _ in }) { sizes.append($0.count) }
        try scheduler.turn { sizes == [0] }
        for id in 0..<2 {
            try test.store.write {
                let shelf = try #require(try $0.object(Shelf.self, forPrimaryKey: 0))
                shelf.memos.append(try #require(try $0.object(Memo.self, forPrimaryKey: id)))
            }
            _ = try connection.refresh()
        }
        #expect(sizes == [0, 1, 2])
        #expect(probe.values.count == 1)
        probe.subscription?.request(.max(1))
        try scheduler.turn { probe.values.count == 2 }
        guard case .update(_, let changes) = probe.values[1] else {
            Issue.record("\(probe.values)")
            return
        }
        #expect(changes.insertions == [0, 1])
        cancellable.cancel()
        probe.subscription?.cancel()
    }

    @Test("a list of values is published; the list of an object that is not stored fails")
    func valueList() throws {
        let shelf = try #require(try connection.object(Shelf.self, forPrimaryKey: 0))
        var seen: [[String]] = []
        let cancellable = shelf.labels.publisher().sink(receiveCompletion: { _ in }) { seen.append(Array($0)) }
        try scheduler.turn { seen == [[]] }
        try connection.write { shelf.labels.append("a") }
        _ = try connection.refresh()
        #expect(seen == [[], ["a"]])
        cancellable.cancel()
        var failure: StoreError?
        _ = Shelf().labels.publisher().sink(
            receiveCompletion: { if case .failure(let error) = $0 { failure = error } }, receiveValue: { _ in })
        #expect(failure == .notStored(type: "Shelf"))
    }

    @Test("sections: publishes the initial sections, then inserted sections and rows, and modified rows")
    func sections() throws {
        let sections = notes.sectioned(by: \.score) { $0 / 20 }
        let probe = Probe<SectionedResultsChange<Int, Memo>>()
        sections.changePublisher().subscribe(probe)
        probe.subscription?.request(.unlimited)
        var keys: [[Int]] = []
        let cancellable = sections.publisher(keyPaths: []).sink(receiveCompletion: { _ in }) { keys.append($0.keys) }
        try scheduler.turn { probe.values.count == 1 && keys.count == 1 }
        guard case .initial = probe.values[0] else {
            Issue.record("\(probe.values)")
            return
        }
        try add(5, score: 50)
        guard case .update(_, let changes) = probe.values.last else {
            Issue.record("\(probe.values)")
            return
        }
        #expect(changes.insertedSections == [2])
        #expect(changes.insertions == [RowPath(section: 2, row: 0)])
        #expect(keys == [[0, 1], [0, 1, 2]])
        try test.store.write { try #require(try $0.object(Memo.self, forPrimaryKey: 5)).title = "written" }
        _ = try connection.refresh()
        #expect(probe.values.count == 3)
        #expect(keys.count == 2, "no property is observed")
        cancellable.cancel()
        probe.subscription?.cancel()
    }

    @Test("a write that excludes a publisher's token is not published; writes by others are")
    func token() throws {
        var token: NotificationToken?
        var seen: [[Int]] = []
        let cancellable = notes.publisher().sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        let named = notes.changePublisher().handleToken { token = $0 }.sink(
            receiveCompletion: { _ in },
            receiveValue: {
                switch $0 {
                case .initial(let notes): seen.append(Array(notes.indices))
                case .update(_, let changes): seen.append(Array(changes.insertions))
                case .error: break
                }
            })
        try scheduler.turn { seen.count == 1 }
        let held = try #require(token)
        try addSilently(9, score: -1, held)
        #expect(seen == [[0, 1, 2]])
        try add(10, score: 100)
        #expect(seen == [[0, 1, 2], [4]])
        named.cancel()
        try add(11, score: 101)
        #expect(seen.count == 2)
        cancellable.cancel()
    }

    @Test("a skipped change is not published, whatever the demand before and after it")
    func tokenWithoutDemand() throws {
        final class Owner { var token: NotificationToken? }
        let owner = Owner()
        let probe = Probe<ResultsChange<Memo>>()
        notes.changePublisher().saveToken(on: owner, at: \.token).subscribe(probe)
        probe.subscription?.request(.max(1))
        try scheduler.turn { probe.values.count == 1 }
        let token = try #require(owner.token)
        try add(10, score: 100)
        try addSilently(11, score: 101, token)
        try add(12, score: 102)
        try addSilently(13, score: 103, token)
        probe.subscription?.request(.unlimited)
        try scheduler.turn { probe.values.count == 2 }
        guard case .update(_, let changes) = probe.values[1] else {
            Issue.record("\(probe.values)")
            return
        }
        #expect(changes.insertions == [3, 5])
        #expect(changes.deletions.isEmpty && changes.modifications.isEmpty)
        try addSilently(14, score: 104, token)
        #expect(probe.values.count == 2)
        try add(15, score: 105)
        guard case .update(_, let last) = probe.values.last else {
            Issue.record("\(probe.values)")
            return
        }
        #expect(probe.values.count == 3 && last.insertions == [8])
        token.invalidate()
        try add(16, score: 106)
        #expect(probe.values.count == 3)
        probe.subscription?.cancel()
    }

    @Test("tokens of objects, properties, lists and stores are skipped too; each subscription has its own")
    func otherTokens() throws {
        let shelf = try #require(try connection.object(Shelf.self, forPrimaryKey: 0))
        var tokens: [NotificationToken] = []
        var calls = 0
        var cancellables: Set<AnyCancellable> = []
        func count<Output>(_ publisher: LivePublisher<Output>) {
            publisher.handleToken { tokens.append($0) }.sink(receiveCompletion: { _ in }) { _ in calls += 1 }
                .store(in: &cancellables)
        }
        count(notes[0].changePublisher())
        count(notes[0].publisher(for: \.score))
        count(shelf.memos.changePublisher())
        count(connection.changePublisher)
        count(connection.changePublisher)
        #expect(Set(tokens.map(ObjectIdentifier.init)).count == 5)
        try scheduler.turn { calls == 2 }
        try connection.write(withoutNotifying: tokens) {
            notes[0].score = 1
            shelf.memos.append(notes[0])
        }
        _ = try connection.refresh()
        #expect(calls == 2)
        try connection.write { notes[0].score = 2 }
        _ = try connection.refresh()
        #expect(calls == 7)
        cancellables = []
    }
}
