// Tests of the oracle's local check of a change set. The reference applies the lists to the whole old array and
// compares with the whole new one.
import Testing
import TidegaugeDriver

@testable import TidegaugeHarnessFixtures
@testable import TidegaugeTrialRunner

@Suite struct ChangeSetReplayTests {
    /// Row 2 moves from the front to index 2. If the insertion says 3, the sentence names that insertion too.
    @Test func anInsertionThatIsWrongByOneIsNamed() {
        let orders: [Int64: Int64] = [2: 10, 3: 20, 4: 30, 5: 40, 6: 50]
        let rows = orders.map { OrderedRows.Row(order: $0.value, key: $0.key) }.sorted { $0.order < $1.order }
        func problem(insertion: Int32) -> String? {
            var replay = ChangeSetReplay(OrderedRows(sorted: rows))
            return [Int32(0)].withUnsafeBufferPointer { deletions in
                [insertion].withUnsafeBufferPointer { insertions in
                    [Int32]().withUnsafeBufferPointer { none in
                        replay.step(
                            [.init(key: 2, before: 10, after: 35)],
                            .init(
                                count: 5, deletions: deletions, insertions: insertions, modifications: none,
                                moveCount: 1))?.sentence
                    }
                }
            }
        }
        #expect(problem(insertion: 2) == nil)
        #expect(
            problem(insertion: 3) == "row 2, deletion 0, is in the collection at 2 now and no insertion says so; "
                + "insertion 3 is row 5, which was in the collection before")
    }

    /// A step between two random collections, as items and as the changes between them.
    private struct Step {
        var old: [Item]
        var new: [Item]
        var net: [QueryHistory.Touch]

        init(_ random: inout RandomSource) {
            var scores = Set<Int64>()
            while scores.count < 24 { scores.insert(Int64(random.below(1_000))) }
            var free = Array(scores).shuffled(using: &random)
            old = (0..<random.below(9)).map { Item(key: Int64($0), group: 0, score: free.removeLast(), stamp: 0) }
            old.sort { $0.score < $1.score }
            new = old
            net = []
            for item in old where random.below(3) == 0 {
                let place = new.firstIndex(of: item)!
                switch random.below(3) {
                case 0:
                    new.remove(at: place)
                    net.append(.init(key: item.key, before: item.score, after: TableModel.absent))
                case 1:
                    new[place].stamp = 1
                    net.append(.init(key: item.key, before: item.score, after: item.score))
                default:
                    new[place].stamp = 1
                    new[place].score = free.removeLast()
                    net.append(.init(key: item.key, before: item.score, after: new[place].score))
                }
            }
            for key in 100..<(100 + random.below(3)) {
                let item = Item(key: Int64(key), group: 0, score: free.removeLast(), stamp: 1)
                new.append(item)
                net.append(.init(key: item.key, before: TableModel.absent, after: item.score))
            }
            new.sort { $0.score < $1.score }
        }

        func check(_ delivery: Delivery) -> ChangeSetReplay.Problem? {
            var replay = ChangeSetReplay(OrderedRows(sorted: old.map { .init(order: $0.score, key: $0.key) }))
            let problem = delivery.deletions.map(Int32.init).withUnsafeBufferPointer { deletions in
                delivery.insertions.map(Int32.init).withUnsafeBufferPointer { insertions in
                    delivery.modifications.map(Int32.init).withUnsafeBufferPointer { modifications in
                        replay.step(
                            net,
                            .init(
                                count: delivery.count, deletions: deletions, insertions: insertions,
                                modifications: modifications, moveCount: delivery.moveCount))
                    }
                }
            }
            // The model advances after a wrong change set too.
            #expect(replay.rows.rows.map(\.key) == new.map(\.key))
            return problem
        }

        /// Whether the lists lead from the old array to the new one, and no row is moved without need.
        func isRight(_ delivery: Delivery) -> Bool {
            func isList(_ list: [Int], _ count: Int) -> Bool {
                list.allSatisfy { $0 >= 0 && $0 < count } && zip(list, list.dropFirst()).allSatisfy { $0 < $1 }
            }
            guard delivery.count == new.count, isList(delivery.deletions, old.count),
                isList(delivery.insertions, new.count), isList(delivery.modifications, new.count)
            else { return false }
            var array = old
            for index in delivery.deletions.reversed() { array.remove(at: index) }
            for index in delivery.insertions {
                guard index <= array.count else { return false }
                array.insert(new[index], at: index)
            }
            for index in delivery.modifications {
                // A modified row must have stayed and must differ.
                guard index < array.count, array[index].key == new[index].key, array[index] != new[index] else {
                    return false
                }
                array[index] = new[index]
            }
            let deleted = Set(delivery.deletions.map { old[$0].key })
            let moved = deleted.intersection(delivery.insertions.map { new[$0].key })
            let keyed = net.count { $0.before != $0.after && $0.before != .min && $0.after != .min }
            return array == new && moved.count == delivery.moveCount && moved.count <= keyed
        }
    }

    @Test func acceptsWhatIsRight() {
        for seed in testSeeds(20) {
            var random = RandomSource(seed: seed, stream: 0)
            for _ in 0..<200 {
                let step = Step(&random)
                let delivery = ModelSubscription.difference(step.old, step.new, 2)
                #expect(step.isRight(delivery), "the fixture is wrong: seed \(seed)")
                #expect(step.check(delivery) == nil, "seed \(seed)")
            }
        }
    }

    @Test func agreesWithApplyingTheListsToWholeArrays() {
        var wrong = 0
        for seed in testSeeds(40) {
            var random = RandomSource(seed: seed, stream: 1)
            for _ in 0..<200 {
                let step = Step(&random)
                var delivery = ModelSubscription.difference(step.old, step.new, 2)
                for _ in 0...random.below(2) { Self.spoil(&delivery, step.old, step.new, &random) }
                let isRight = step.isRight(delivery)
                if !isRight { wrong += 1 }
                #expect((step.check(delivery) == nil) == isRight, "seed \(seed): \(step) \(delivery)")
            }
        }
        #expect(wrong > 100, "the spoiling spoils too little for this test to mean anything")
    }

    private static func spoil(
        _ delivery: inout Delivery, _ old: [Item], _ new: [Item], _ random: inout RandomSource
    ) {
        let index = random.below(max(delivery.count, 1))
        switch random.below(9) {
        case 0: delivery.deletions = Set(delivery.deletions).symmetricDifference([index]).sorted()
        case 1: delivery.insertions = Set(delivery.insertions).symmetricDifference([index]).sorted()
        case 2: delivery.modifications = Set(delivery.modifications).symmetricDifference([index]).sorted()
        case 3: delivery.moveCount += random.below(3) - 1
        case 4: delivery.count += random.below(3) - 1
        case 5 where !delivery.insertions.isEmpty:
            delivery.insertions[random.below(delivery.insertions.count)] += random.below(3) - 1
        case 6:
            // Moves a row without need.
            delivery.deletions = Set(delivery.deletions).union([index]).sorted()
            delivery.insertions = Set(delivery.insertions).union([index]).sorted()
            delivery.moveCount += 1
        case 7:
            // Reports a moved row as modified in place.
            let from = delivery.deletions.filter { $0 < old.count }
            let to = delivery.insertions.filter { $0 >= 0 && $0 < new.count }
            guard let moved = to.first(where: { index in from.contains { old[$0].key == new[index].key } }) else {
                return
            }
            delivery.deletions = from.filter { old[$0].key != new[moved].key }
            delivery.insertions = to.filter { $0 != moved }
            delivery.modifications = (delivery.modifications + [moved]).sorted()
            delivery.moveCount -= 1
        default: delivery.deletions.reverse()
        }
    }
}
