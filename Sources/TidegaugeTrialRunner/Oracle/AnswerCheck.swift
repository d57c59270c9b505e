// Checks that the answers to reads in callbacks follow from the rows at the version of the answer. It processes the
// answers of one observer in the order of callbacks, in which their versions must not decrease. Answers to `open` are
// compared with the first row of the other store.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

/// The rows of one query, as far as the questions need them. Used by one thread.
struct AnswerCheck {
    private let query: Query
    private let history: QueryHistory
    private let dataset: Dataset
    private let shape: RowShape
    /// Condition by which rows are counted, or nil.
    private let condition: RowCondition?
    /// Keys of the rows that pass the condition.
    private var passing: Set<Int64> = []
    private var replay: ChangeSetReplay
    /// Values of the column `stamp`, by key, of rows that a commit has changed; `ReadAnswer.noRow` for rows that have
    /// left.
    private var stamps: [Int64: Int64] = [:]
    private var sum: Int64 = 0
    /// Number of affecting commits so far.
    private var done = 0

    /// - Parameter rows: the rows of the query before the first commit.
    init(
        _ query: Query, _ history: QueryHistory, _ dataset: Dataset, _ shape: RowShape, _ rows: OrderedRows,
        counting condition: RowCondition?
    ) {
        (self.query, self.history, self.dataset, self.shape) = (query, history, dataset, shape)
        self.condition = condition
        replay = ChangeSetReplay(rows)
        if condition != nil { for row in rows.rows { count(dataset.item(at: Int(row.key))) } }
    }

    private mutating func count(_ item: Item) {
        guard let condition else { return }
        if condition.passes(score: item.score, text: shape.text(of: item)) {
            passing.insert(item.key)
        } else {
            passing.remove(item.key)
        }
    }

    /// Returns a sentence about the first wrong answer of an observer, or nil.
    mutating func violation(_ log: ObserverLog, _ reader: CallbackReader, _ history: History) -> String? {
        for given in reader.answers where given.callback < log.count {
            let callback = Int(given.callback)
            let problem =
                given.isGiven
                ? problem(given, reader.reads, shownAt: log[callback].version, history)
                : "was not answered: \(reader.failure ?? "an error was thrown")"
            guard let problem else { continue }
            return "answers: in callback \(callback) of \(log.observer.name) '\(reader.reads.rawValue)' \(problem)"
        }
        return nil
    }

    private mutating func problem(
        _ given: GivenAnswer, _ reads: ObserversSpec.Reads, shownAt version: Int64, _ history: History
    ) -> String? {
        if given.version < version {
            return "was answered by version \(given.version), and the callback shows version \(version)"
        }
        if reads != .open {
            let covered = self.history.affecting(before: history.covered(by: given.version))
            guard covered >= done else {
                return "was answered by version \(given.version), older than the answer before"
            }
            advance(covered)
        }
        let expected = expected(reads, callback: Int(given.callback))
        guard given.value != expected else { return nil }
        let place = reads == .open ? "" : " at version \(given.version)"
        return "was answered \(given.value)\(place), should be \(expected)"
    }

    private mutating func advance(_ covered: Int) {
        let net = history.net(done..<covered)
        done = covered
        replay.advance(net)
        for touch in net {
            if touch.wasIn { sum -= stamps[touch.key] ?? 0 }
            if touch.isIn { sum += touch.stamp }
            stamps[touch.key] = touch.isIn ? touch.stamp : ReadAnswer.noRow
            if touch.isIn {
                count(Item(key: touch.key, group: 0, score: score(touch.after), stamp: touch.stamp))
            } else {
                passing.remove(touch.key)
            }
        }
    }

    private func expected(_ reads: ObserversSpec.Reads, callback: Int) -> Int64 {
        switch reads {
        case .lookup: stamp(ofKey: CallbackReader.key(callback, of: UInt64(dataset.items)))
        case .count: Int64(condition == nil ? replay.rows.count : passing.count)
        case .sum, .iterate: sum
        case .window: window()
        case .open: dataset.item(at: 0).score
        case .none: 0
        }
    }

    private func stamp(ofKey key: Int64) -> Int64 {
        if let stamp = stamps[key] { return stamp }
        let item = dataset.item(at: Int(key))
        return query.looked(key, score: item.score, stamp: item.stamp)
    }

    private func window() -> Int64 {
        var sum: Int64 = 0
        for index in 0..<min(replay.rows.count, ReadAnswer.windowRows) {
            let row = replay.rows[index]
            ReadAnswer.add(score: score(row.order), stamp: stamps[row.key] ?? 0, to: &sum)
        }
        return sum
    }

    /// Score of a row from its place in an order by score.
    private func score(_ order: Int64) -> Int64 { query.order == .scoreDescending ? ~order : order }
}
