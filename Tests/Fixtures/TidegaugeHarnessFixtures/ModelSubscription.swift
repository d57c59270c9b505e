// One observer of the model store. It keeps the rows shown and computes the differences.
import TidegaugeDriver

/// Used on its delivery context, except for `cancel` and `isCancelled`.
final class ModelSubscription: PullingSubscription, AnsweringSubscription, WholeRowSubscription, @unchecked Sendable {
    let query: Query
    private let shape: RowShape
    private let sink: CancellableSink
    private var shown: [Item]?
    private var version: Int64 = 0

    init(_ query: Query, _ shape: RowShape, _ sink: any DeliverySink) {
        (self.query, self.shape) = (query, shape)
        self.sink = CancellableSink(sink)
    }

    func show(_ rows: [Item], _ version: Int64) {
        guard rows != shown else { return }
        let old = shown
        (shown, self.version) = (rows, version)
        guard let old else {
            return sink.deliver(Delivery(version: version, isInitial: true, count: rows.count))
        }
        sink.deliver(Self.difference(old, rows, version))
    }

    func cancel() { sink.cancel() }

    var isCancelled: Bool { sink.isCancelled }

    func currentItems() -> [Item] { shown ?? [] }

    /// Answers from the rows that are shown.
    func answer(_ question: ReadQuestion) -> ReadAnswer {
        let items = currentItems()
        var value: Int64 = 0
        switch question {
        case .lookup(let key): value = items.first { $0.key == key }?.stamp ?? ReadAnswer.noRow
        case .count: value = Int64(items.count)
        case .countWhere(let condition):
            // Trials with a condition show all rows.
            let passing = items.filter { condition.passes(score: $0.score, text: shape.text(of: $0)) }
            value = Int64(passing.count)
        case .sum, .iterate: for item in items { value += item.stamp }
        case .window:
            for item in items.prefix(ReadAnswer.windowRows) {
                ReadAnswer.add(score: item.score, stamp: item.stamp, to: &value)
            }
        }
        return ReadAnswer(value, at: version)
    }

    func forEachShownRow(_ indices: Range<Int>, _ body: (WholeRow) -> Void) {
        let items = currentItems()
        for item in items[indices.clamped(to: 0..<items.count)] { body(shape.whole(item)) }
    }

    /// Returns the change set from one array to another, with as few moves as possible.
    static func difference(_ old: [Item], _ new: [Item], _ version: Int64) -> Delivery {
        let oldIndex = Dictionary(uniqueKeysWithValues: old.indices.map { (old[$0].key, $0) })
        let newKeys = Set(new.map(\.key))
        let stayed = new.indices.filter { oldIndex[new[$0].key] != nil }
        let kept = Set(longestAscending(stayed.map { oldIndex[new[$0].key]! }).map { stayed[$0] })
        let moved = stayed.filter { !kept.contains($0) }
        let gone = old.indices.filter { !newKeys.contains(old[$0].key) }
        let come = new.indices.filter { oldIndex[new[$0].key] == nil }
        let changed = stayed.filter { kept.contains($0) && old[oldIndex[new[$0].key]!].stamp != new[$0].stamp }
        return Delivery(
            version: version, isInitial: false, count: new.count,
            deletions: (gone + moved.map { oldIndex[new[$0].key]! }).sorted(), insertions: (come + moved).sorted(),
            modifications: changed, moveCount: moved.count)
    }

    /// Returns the positions of a longest ascending subsequence. O(n²).
    private static func longestAscending(_ values: [Int]) -> [Int] {
        var length = Array(repeating: 1, count: values.count)
        var previous = Array(repeating: -1, count: values.count)
        for end in values.indices {
            for start in 0..<end where values[start] < values[end] && length[start] + 1 > length[end] {
                length[end] = length[start] + 1
                previous[end] = start
            }
        }
        guard var at = values.indices.max(by: { length[$0] < length[$1] }) else { return [] }
        var path: [Int] = []
        while at >= 0 {
            path.append(at)
            at = previous[at]
        }
        return path.reversed()
    }
}
