// Checks the deliveries of a history against the model, after its end.
import TidegaugeDriver

extension HistoryRun {
    mutating func checkDeliveries() {
        let state = recorder.state.withLock { $0 }
        for (promise, breach) in state.breaches.found { breaches.add(promise, breach.sentence) }
        for (number, known) in subscribed.sorted(by: { $0.key < $1.key }) {
            check(state.deliveries.filter { $0.subscription == number }, number, known.query, state.most[number])
        }
        if capabilities.advancesTogether { checkTogether(state.deliveries) }
    }

    private mutating func check(_ deliveries: [ConformDelivery], _ number: Int, _ query: Query, _ most: Int?) {
        if let most, deliveries.count > most {
            breaches.add(
                cancelled[number] ?? .cancelled,
                "subscription \(number) was delivered \(deliveries.count - most) times after that")
        }
        var replay: ChangeSetReplay?
        var last: (covered: Int, version: Int64?)?
        for delivery in deliveries {
            let content = delivery.content
            let place = "delivery \(delivery.number + 1) of subscription \(number)"
            if content.isInitial != (delivery.number == 0) {
                breaches.add(
                    delivery.number == 0 ? .firstIsInitial : .initial,
                    delivery.number == 0 ? "\(place) is not the initial one" : "\(place) is an initial one again")
            }
            if let version = content.version, let before = last?.version, version < before, !isLate {
                breaches.add(.versions, "\(place) has version \(version), the one before it \(before)")
                return
            }
            if isLost, let version = content.version, version > versions.last ?? .min { return }
            guard let covered = covered(delivery, query, from: last?.covered ?? 0) else {
                return breaches.add(.versions, "\(place) has no version, or its rows are those of none")
            }
            guard covered >= last?.covered ?? 0 else {
                return breaches.add(.versions, "\(place) shows an older state than the one before it")
            }
            if capabilities.hasContents {
                check(rowsOf: delivery, place, query, covered)
                check(changesOf: delivery, place, query, from: last?.covered, to: covered, &replay)
            }
            last = (covered, content.version)
        }
    }

    /// Whether versions are tokens, which have no order.
    private var isLate: Bool { capabilities.can(.lateVersions) }

    /// Returns the number of commits that a delivery contains, or nil: by its version if the engine has versions,
    /// otherwise by its rows; all of them if no rows were read.
    private func covered(_ delivery: ConformDelivery, _ query: Query, from first: Int) -> Int? {
        if capabilities.hasVersions { return covered(by: delivery.content.version) }
        guard let shown = delivery.shown else { return states.count - 1 }
        return states.indices.first { $0 >= first && isEqual(shown, states[$0].found(by: query), query) }
    }

    private mutating func check(rowsOf delivery: ConformDelivery, _ place: String, _ query: Query, _ covered: Int) {
        let expected = states[covered].found(by: query)
        let version = delivery.content.version.map { "version \($0)" } ?? "no version"
        var problem: String?
        if capabilities.shows != .nothing || capabilities.hasChangeSets, delivery.content.count != expected.count {
            problem = "states \(delivery.content.count) rows, should be \(expected.count)"
        } else if let shown = delivery.shown, let difference = difference(expected, shown, query) {
            let other = states.indices.first { isEqual(shown, states[$0].found(by: query), query) }
            problem = "shows other rows" + (other.map { ", those after \($0) commits" } ?? "") + ": \(difference)"
        }
        guard let problem else { return }
        breaches.add(
            delivery.number == 0 ? .initial : .versions,
            "\(place), which has \(version) (\(covered) commits), \(problem)")
    }

    private mutating func check(
        changesOf delivery: ConformDelivery, _ place: String, _ query: Query, from first: Int?, to covered: Int,
        _ replay: inout ChangeSetReplay?
    ) {
        let content = delivery.content
        let lists = [content.deletions, content.insertions, content.modifications].map { list in
            list.map { Int32(clamping: $0) }
        }
        guard let first else {
            replay = ChangeSetReplay(states[covered].ordered(by: query))
            if lists.contains(where: { !$0.isEmpty }) { breaches.add(.changeSets, "\(place) has a change set") }
            return
        }
        // A row that is written with the values that it has may count as changed, or not.
        var net = states[first].net(to: states[covered], query)
        let written = Set(changes[first..<covered].joined().map(\.item.key)).subtracting(net.map(\.key))
        let rows = states[covered].ordered(by: query).rows
        if net.isEmpty, !capabilities.repeatsRows, !rows.contains(where: { written.contains($0.key) }) {
            breaches.add(
                .twice, "\(place) has the same rows as the one before it, after \(covered) commits instead of \(first)")
        }
        guard capabilities.hasChangeSets else { return }
        for index in Set(content.modifications) where rows.indices.contains(index) {
            let row = rows[index]
            guard written.contains(row.key) else { continue }
            net.append(.init(key: row.key, before: row.order, after: row.order))
        }
        let problem = lists[0].withUnsafeBufferPointer { deletions in
            lists[1].withUnsafeBufferPointer { insertions in
                lists[2].withUnsafeBufferPointer { modifications in
                    replay?.step(
                        net,
                        .init(
                            count: content.count, deletions: deletions, insertions: insertions,
                            modifications: modifications, moveCount: content.moveCount))
                }
            }
        }
        if let problem {
            breaches.add(
                .changeSets,
                "\(place), from \(first) commits to \(covered), \(problem.sentence) (deletions \(content.deletions), "
                    + "insertions \(content.insertions), modifications \(content.modifications))")
        }
    }

    /// Checks that no subscription of a context is delivered fewer commits than another one was before.
    private mutating func checkTogether(_ deliveries: [ConformDelivery]) {
        for context in contexts.indices {
            let updates = deliveries.filter {
                !$0.content.isInitial && subscribed[$0.subscription]?.context == context
            }
            for (earlier, later) in zip(updates, updates.dropFirst()) {
                guard earlier.subscription != later.subscription,
                    let before = covered(by: earlier.content.version), let after = covered(by: later.content.version)
                else { continue }
                if after < before {
                    breaches.add(
                        .facts,
                        "subscription \(later.subscription) was delivered \(after) commits after subscription "
                            + "\(earlier.subscription) had been delivered \(before): it does not advance together")
                }
            }
        }
    }
}
