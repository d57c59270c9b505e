// A small history of calls on a store, as a value: it is drawn from a seed, run, shortened and printed.
import TidegaugeDriver
import TidegaugeSpec

package struct ConformHistory: Sendable, Equatable {
    enum Step: Sendable, Equatable {
        /// Subscribes on one of two delivery contexts. `besideWriter`: while a writer holds the write lock.
        case subscribe(Int, Query, context: Int, besideWriter: Bool)
        /// Cancels in the delivery context or on another thread.
        case cancel(Int, onContext: Bool)
        case commit([Change])
        /// Writers commit at the same time, each on its own thread, while the given subscriptions are cancelled.
        case together([[[Change]]], cancelling: [Int])
        /// Waits until the subscriptions that are not cancelled have been delivered the last state, and compares
        /// contents.
        case settle
        /// Kills the process, and opens the store in another one.
        case kill
    }

    package let seed: UInt64
    let deliver: ObserversSpec.Deliver
    var durability: DurabilityLevel
    /// Loaded rows, ascending by key.
    var rows: [Item]
    var steps: [Step] = []

    // MARK: Measures

    package var commits: Int {
        steps.reduce(0) { sum, step in
            switch step {
            case .commit: sum + 1
            case .together(let writers, _): sum + writers.reduce(0) { $0 + $1.count }
            case .subscribe, .cancel, .settle, .kill: sum
            }
        }
    }

    /// Whether threads race in it, so that one run shows only one of its outcomes.
    var isConcurrent: Bool { contains { if case .together = $0 { true } else { false } } }

    func contains(_ isWanted: (Step) -> Bool) -> Bool { steps.contains(where: isWanted) }

    /// Number of commits that change a missing row, if writers commit one after the other.
    var failingCommits: Int {
        var table = ConformTable(rows)
        return steps.reduce(0) { sum, step in
            switch step {
            case .commit(let changes): sum + (table.apply(changes) == nil ? 0 : 1)
            case .together(let writers, _): sum + writers.joined().count { table.apply($0) != nil }
            case .subscribe, .cancel, .settle, .kill: sum
            }
        }
    }

    // MARK: Shortening

    /// Shorter histories. None has more failing commits than this one.
    var shorter: [ConformHistory] {
        var found: [ConformHistory] = []
        func add(_ change: (inout ConformHistory) -> Void) {
            var copy = self
            change(&copy)
            if copy.failingCommits <= failingCommits { found.append(copy) }
        }
        for case .subscribe(let number, _, _, _) in steps { add { $0.remove(subscription: number) } }
        for index in steps.indices.reversed() {
            if case .subscribe = steps[index] { continue }
            add { $0.steps.remove(at: index) }
        }
        for (index, step) in steps.enumerated() {
            switch step {
            case .together(let writers, let cancelling):
                for writer in writers.indices where writers.count > 1 {
                    var fewer = writers
                    fewer.remove(at: writer)
                    add { $0.steps[index] = .together(fewer, cancelling: cancelling) }
                }
                for writer in writers.indices {
                    for commit in writers[writer].indices.reversed() where writers[writer].count > 1 {
                        var fewer = writers
                        fewer[writer].remove(at: commit)
                        add { $0.steps[index] = .together(fewer, cancelling: cancelling) }
                    }
                }
            case .commit(let changes) where changes.count > 1:
                for place in changes.indices {
                    var fewer = changes
                    fewer.remove(at: place)
                    add { $0.steps[index] = .commit(fewer) }
                }
            case .subscribe(let number, let query, let context, true):
                add { $0.steps[index] = .subscribe(number, query, context: context, besideWriter: false) }
            case .commit, .subscribe, .cancel, .settle, .kill: break
            }
        }
        for index in rows.indices { add { $0.rows.remove(at: index) } }
        return found
    }

    private mutating func remove(subscription number: Int) {
        steps = steps.compactMap { step in
            switch step {
            case .subscribe(number, _, _, _), .cancel(number, _): nil
            case .together(let writers, let cancelling):
                .together(writers, cancelling: cancelling.filter { $0 != number })
            case .subscribe, .cancel, .commit, .settle, .kill: step
            }
        }
    }

    // MARK: Text

    /// The opening of the store and the steps, one per line.
    package var lines: [String] {
        let loaded = rows.map { "[\($0.key),\($0.group),\($0.score),\($0.stamp)]" }.joined(separator: ",")
        return ["open \(durability.rawValue) and load [\(loaded)] (key, group, score, stamp)"] + steps.map(\.text)
    }
}

extension ConformHistory.Step {
    var text: String {
        switch self {
        case .subscribe(let number, let query, let context, let besideWriter):
            "subscribe \(number) in context \(context) to \(query.text)"
                + (besideWriter ? ", while a writer holds the write lock" : "")
        case .cancel(let number, let onContext): "cancel \(number)" + (onContext ? " in its context" : "")
        case .commit(let changes): "commit \(Self.text(changes))"
        case .together(let writers, let cancelling):
            "at the same time: "
                + (writers.enumerated().map { number, commits in
                    "writer \(number + 1) commits " + commits.map(Self.text).joined(separator: ", then ")
                } + cancelling.map { "cancel \($0)" }).joined(separator: "; ")
        case .settle: "wait for the last state, and read it"
        case .kill: "kill the process, and open the store again"
        }
    }

    private static func text(_ changes: [Change]) -> String {
        "["
            + changes.map { change in
                let item = change.item
                return switch change.operation {
                case .insert:
                    "insert \(item.key) group=\(item.group) score=\(item.score) stamp=\(item.stamp)"
                case .updateScore: "update \(item.key) score=\(item.score) stamp=\(item.stamp)"
                case .touch, .moveToFront: "update \(item.key) stamp=\(item.stamp)"
                case .delete: "delete \(item.key)"
                }
            }.joined(separator: "; ") + "]"
    }
}

extension Query {
    fileprivate var text: String {
        func bounds(_ column: String, _ range: Range<Int64>?) -> [String] {
            guard let range else { return [] }
            return ["\(column) >= \(range.lowerBound)"]
                + (range.upperBound == .max ? [] : ["\(column) < \(range.upperBound)"])
        }
        let conditions = (group.map { ["group = \($0)"] } ?? []) + bounds("score", scores) + bounds("key", keys)
        let order =
            switch order {
            case .none, .list: [String]()
            case .scoreAscending: ["sort score"]
            case .scoreDescending: ["sort -score"]
            }
        return "{\((conditions + order).joined(separator: ", "))}"
    }
}
