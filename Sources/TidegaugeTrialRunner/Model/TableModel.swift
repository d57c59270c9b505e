// A model of the trial's table: every row after the commits applied so far. It has only rows by key, no queries.
import TidegaugeDriver

struct TableModel: Sendable {
    /// A row without the values that follow from its key.
    struct Row: Sendable {
        /// `absent` if there is no row.
        var score: Int64
        var stamp: Int64
        /// Position in order of insertion, with loaded rows by key; queries without an order use it.
        var age: Int64
        /// Place in the list of rows: new rows are last; rows moved to the front come before all others.
        var place: Int64
    }

    static let absent = Int64.min

    private let dataset: Dataset
    private var rows: ContiguousArray<Row>
    private var nextAge: Int64
    private var lastFront: Int64 = 0

    init(_ dataset: Dataset) {
        self.dataset = dataset
        rows = ContiguousArray(
            (0..<dataset.count).map {
                Row(score: dataset.item(at: $0).score, stamp: 0, age: Int64($0), place: Int64($0))
            })
        nextAge = Int64(dataset.count)
    }

    subscript(key: Int64) -> Row { Int(key) < rows.count ? rows[Int(key)] : Self.noRow }

    private static let noRow = Row(score: absent, stamp: 0, age: 0, place: 0)

    func group(of key: Int64) -> Int64 { Int(key) < dataset.count ? dataset.item(at: Int(key)).group : 0 }

    /// The rows that exist, by key.
    func items() -> [Item] {
        rows.indices.compactMap { index in
            let row = rows[index]
            guard row.score != Self.absent else { return nil }
            return Item(key: Int64(index), group: group(of: Int64(index)), score: row.score, stamp: row.stamp)
        }
    }

    mutating func apply(_ change: Change) {
        let index = Int(change.item.key)
        switch change.operation {
        case .insert:
            while rows.count <= index { rows.append(Self.noRow) }
            rows[index] = Row(score: change.item.score, stamp: change.item.stamp, age: nextAge, place: nextAge)
            nextAge += 1
        case .updateScore:
            rows[index].score = change.item.score
            rows[index].stamp = change.item.stamp
        case .moveToFront:
            rows[index].stamp = change.item.stamp
            lastFront -= 1
            rows[index].place = lastFront
        case .touch: rows[index].stamp = change.item.stamp
        case .delete: rows[index].score = Self.absent
        }
    }
}

extension Query.Order {
    /// Returns the value that rows are sorted by, ascending.
    func position(of row: TableModel.Row) -> Int64 {
        switch self {
        case .none: row.age
        case .list: row.place
        case .scoreAscending: row.score
        case .scoreDescending: ~row.score
        }
    }
}
