// Checks that the rows shown in callbacks are those of the callbacks' versions. It follows a replay in version order.
import TidegaugeDriver
import TidegaugeMeasure

/// The samples of observers with the same deliveries, compared during their common replay. Used by one thread.
struct ShownRows {
    private struct Looked {
        let log: ObserverLog
        let samples: RecordBuffer<RowSample>
        var next = 0
        var isSound = true
    }

    private var looked: [Looked]
    private let order: Query.Order
    private let empty: RowDigest
    /// Column `stamp`, by key, of rows that a commit has changed; in the others it is 0.
    private var stamps: [Int64: Int64] = [:]
    private(set) var compared = 0

    init(_ alike: [ObserverLog], _ query: Query, _ capabilities: Capabilities) {
        looked = alike.compactMap { log in log.observer.sampler.map { Looked(log: log, samples: $0.samples) } }
        order = query.order
        empty = RowDigest(query.order, capabilities)
    }

    mutating func advance(_ net: [QueryHistory.Touch]) {
        guard !looked.isEmpty else { return }
        for touch in net { stamps[touch.key] = touch.stamp }
    }

    /// Compares the samples of one callback.
    /// - Parameters:
    ///   - rows: the rows at the callback's version; nil if they are unknown.
    /// - Returns: a sentence for each observer whose first wrong callback this is.
    mutating func problems(at callback: Int, _ rows: OrderedRows?) -> [String] {
        var problems: [String] = []
        for place in looked.indices {
            while looked[place].next < looked[place].samples.count {
                let sample = looked[place].samples[looked[place].next]
                guard sample.callback <= callback else { break }
                looked[place].next += 1
                guard let rows, sample.callback == callback, looked[place].isSound else { continue }
                compared += 1
                guard let problem = difference(sample, rows) else { continue }
                looked[place].isSound = false
                let record = looked[place].log[callback]
                problems.append(
                    "shown rows: callback \(callback) of \(looked[place].log.observer.name) claims version "
                        + "\(record.version): \(problem)")
            }
        }
        return problems
    }

    private func difference(_ sample: RowSample, _ rows: OrderedRows) -> String? {
        guard sample.count >= 0 else { return "its rows cannot be read" }
        guard sample.index >= 0 else {
            if Int(sample.count) != rows.count { return "it shows \(sample.count) rows, which has \(rows.count)" }
            var digest = empty
            for row in rows.rows { add(row, to: &digest) }
            return digest.value == sample.digest
                ? nil
                : "the \(sample.count) rows it shows are not those of that version: other rows, values or another order"
        }
        let index = Int(sample.index)
        // An index out of range is reported by the check of change sets.
        guard index < rows.count else { return nil }
        let expected = rows[index]
        guard sample.count == 1 else { return "it shows no row \(index), which is \(describe(expected))" }
        var digest = empty
        add(expected, to: &digest)
        if digest.value == sample.digest { return nil }
        return "row \(index) is shown as key \(sample.key) stamp \(sample.stamp), should be \(describe(expected))"
    }

    private func add(_ row: OrderedRows.Row, to digest: inout RowDigest) {
        let score = order == .scoreDescending ? ~row.order : row.order
        digest.add(key: row.key, score: score, stamp: stamps[row.key] ?? 0)
    }

    private func describe(_ row: OrderedRows.Row) -> String { "key \(row.key) stamp \(stamps[row.key] ?? 0)" }
}
