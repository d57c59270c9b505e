// Draws a history from a seed. Scores are unique, because no order among equal scores is promised. Bounds of queries
// are often scores of rows, so that `<` and `<=` differ.
import TidegaugeDriver
import TidegaugeSpec

struct HistoryGenerator {
    private static let groups = 3
    private static let contexts = 2
    private static let distinctScores = 200
    private static let mostSubscriptions = 4

    private let capabilities: Capabilities
    private var random: RandomSource
    private var history: ConformHistory
    /// Rows after the steps so far, if writers commit one after the other.
    private var table: ConformTable
    private var scores: [Int64]
    private var nextKey: Int64
    private var stamp: Int64 = 0
    private var nextSubscription = 1
    private var live: [Int] = []

    /// Returns a history: for even seeds one of concurrent writers, if commits have versions to order them by.
    static func history(seed: UInt64, _ capabilities: Capabilities) -> ConformHistory {
        var generator = HistoryGenerator(seed, capabilities)
        if seed % 2 == 0, capabilities.hasVersions {
            generator.addConcurrentSteps(cancels: seed % 4 == 0)
        } else {
            generator.addSerialSteps()
        }
        return generator.history
    }

    private init(_ seed: UInt64, _ capabilities: Capabilities) {
        var random = RandomSource(seed: seed, stream: 6_000_000)
        func element<Value>(_ values: [Value]) -> Value { values[random.below(values.count)] }
        let places = ObserversSpec.Deliver.allCases.filter {
            capabilities.sites.contains($0 == .runLoop ? .runLoop : .queue)
        }
        let levels = DurabilityLevel.allCases.filter(capabilities.durabilities.contains)
        history = ConformHistory(seed: seed, deliver: element(places), durability: element(levels), rows: [])
        var scores = (1...Self.distinctScores).map { Int64($0 * 10) }
        for index in stride(from: scores.count - 1, to: 0, by: -1) { scores.swapAt(index, random.below(index + 1)) }
        history.rows = (0..<random.below(8)).map { key in
            Item(key: Int64(key), group: Int64(random.below(Self.groups)), score: scores.removeLast(), stamp: 0)
        }
        (self.capabilities, self.random, self.scores) = (capabilities, random, scores)
        table = ConformTable(history.rows)
        nextKey = Int64(history.rows.count)
    }

    // MARK: Steps

    private mutating func addSerialSteps() {
        addSubscription()
        let commits = 3 + random.below(6)
        while history.commits < commits {
            switch random.below(12) {
            case 0, 1: if nextSubscription <= Self.mostSubscriptions { addSubscription() }
            case 2: if live.count > 1 { cancelOne() }
            case 3, 4: history.steps.append(.settle)
            case 5: addCommit(failing: capabilities.hasContents)
            default:
                addCommit(failing: false)
                if random.below(2) == 0 { history.steps.append(.settle) }
            }
        }
        addFence()
    }

    private mutating func addConcurrentSteps(cancels: Bool) {
        for _ in 0..<2 + random.below(2) { addSubscription(isSorted: true) }
        addCommit(failing: false)
        let writers = 2 + random.below(2)
        let lists = (0..<writers).map { _ in
            // The order of commits of late versions is known only after the deliveries, so their writers share no rows.
            let shared = capabilities.can(.lateVersions) ? [] : table.keys
            var owned: [Item] = []
            return (0..<(writers == 2 ? 3 : 2)).map { _ in concurrentCommit(shared, &owned) }
        }
        let cancelled = cancels ? Array(live.prefix(1 + random.below(2))) : []
        live.removeAll(where: cancelled.contains)
        for commit in lists.joined() { _ = table.apply(commit) }
        history.steps += [.together(lists, cancelling: cancelled), .settle]
        addFence()
    }

    /// Adds a subscription in each context, and a last commit that both are told of.
    private mutating func addFence() {
        history.steps.append(.settle)
        for context in 0..<Self.contexts { addSubscription(Query(order: .scoreAscending), in: context) }
        stamp += 1
        history.steps.append(.commit([Change(.insert, newItem(group: 0))]))
        // Without the wait, deliveries may be pending when the store closes.
        if random.below(4) > 0 { history.steps.append(.settle) }
    }

    private mutating func addSubscription(isSorted: Bool = false) {
        addSubscription(query(isSorted: isSorted), in: random.below(Self.contexts))
    }

    private mutating func addSubscription(_ query: Query, in context: Int) {
        let besideWriter = capabilities.readsBesideWriter && random.below(4) == 0
        history.steps.append(.subscribe(nextSubscription, query, context: context, besideWriter: besideWriter))
        live.append(nextSubscription)
        nextSubscription += 1
    }

    private mutating func cancelOne() {
        let number = live.remove(at: random.below(live.count))
        history.steps.append(.cancel(number, onContext: random.below(2) == 0))
    }

    private mutating func query(isSorted: Bool) -> Query {
        func range(_ bounds: [Int64], _ random: inout RandomSource) -> Range<Int64>? {
            guard random.below(2) == 0 else { return nil }
            let lower = random.below(3) == 0 ? 0 : bounds[random.below(bounds.count)]
            let upper = random.below(3) == 0 ? Int64.max : bounds[random.below(bounds.count)]
            return min(lower, upper)..<max(lower, upper, 1)
        }
        let known = table.keys.map { table[$0]!.score } + scores.suffix(6)
        var query = Query(scores: range(known, &random))
        if random.below(4) == 0 { query.group = Int64(random.below(Self.groups)) }
        if random.below(4) == 0 { query.keys = range((0...nextKey + 4).map { $0 }, &random) }
        let orders: [Query.Order] = [.scoreAscending, .scoreDescending, .none]
        query.order = orders[random.below(isSorted ? 2 : 3)]
        return query
    }

    // MARK: Commits

    private mutating func newItem(group: Int64) -> Item {
        defer { nextKey += 1 }
        return Item(key: nextKey, group: group, score: scores.removeLast(), stamp: stamp)
    }

    private mutating func insertion() -> Change { Change(.insert, newItem(group: Int64(random.below(Self.groups)))) }

    /// Draws a change of a row, now and then one that leaves all values as they are.
    private mutating func change(of item: Item, mayDelete: Bool) -> Change {
        var item = item
        switch random.below(mayDelete ? 8 : 6) {
        case 0: return Change(.touch, item)
        case 1, 2:
            item.stamp = stamp
            return Change(.touch, item)
        case 3, 4, 5:
            (item.score, item.stamp) = (scores.removeLast(), stamp)
            return Change(.updateScore, item)
        default: return Change(.delete, item)
        }
    }

    private mutating func addCommit(failing: Bool) {
        stamp += 1
        var changes: [Change] = []
        var next = table
        for _ in 0..<1 + random.below(3) {
            let keys = next.keys
            let change =
                keys.isEmpty || random.below(3) == 0
                ? insertion() : change(of: next[keys[random.below(keys.count)]]!, mayDelete: true)
            _ = next.apply([change])
            changes.append(change)
        }
        if failing {
            let missing = Item(key: 900 + Int64(random.below(9)), group: 0, score: scores.removeLast(), stamp: stamp)
            let operations: [Change.Operation] = [.touch, .updateScore, .delete]
            changes.insert(
                Change(operations[random.below(3)], missing), at: random.below(changes.count + 1))
        } else {
            table = next
        }
        history.steps.append(.commit(changes))
    }

    /// Draws a commit of one of several writers. It inserts a row, may delete one that the writer has inserted, and may
    /// change a shared one.
    private mutating func concurrentCommit(_ shared: [Int64], _ owned: inout [Item]) -> [Change] {
        stamp += 1
        var changes = [insertion()]
        if !owned.isEmpty, random.below(2) == 0 {
            changes.append(Change(.delete, owned.remove(at: random.below(owned.count))))
        }
        if !shared.isEmpty, let item = table[shared[random.below(shared.count)]] {
            let score = random.below(2) == 0 ? nil : scores.removeLast()
            let changed = Item(key: item.key, group: item.group, score: score ?? item.score, stamp: stamp)
            changes.append(Change(score == nil ? .touch : .updateScore, changed))
        }
        owned.append(changes[0].item)
        return changes
    }
}
