// The ordered rows of one query in a process that receives every commit. A value: changes do not affect older copies.
//
// Rows are in chunks that values share. `apply` copies the list of chunks and the chunks that it changes; `changes`
// skips the chunks that two values share.
import StillingWellBasis

/// A row and its insertion number, which is the order of queries without an order.
public struct AgedItem: Sendable, Equatable {
    public var item: Item
    public var age: UInt64

    public init(item: Item, age: UInt64) { (self.item, self.age) = (item, age) }
}

/// The rows that a query finds, in its order.
public struct OrderedView: Sendable {
    /// A row before and after a commit; nil if it does not exist.
    public typealias Step = (before: AgedItem?, after: AgedItem?)

    /// Differences between two values, as a `Delivery` states them.
    public struct Changes: Sendable, Equatable {
        /// Indices in the old value, ascending.
        public internal(set) var deletions: [Int] = []
        /// Indices in the new value, ascending.
        public internal(set) var insertions: [Int] = []
        /// Indices in the new value of rows that kept their place and changed, ascending.
        public internal(set) var modifications: [Int] = []
        /// Number of rows that were both deleted and inserted.
        public internal(set) var moveCount = 0

        public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
    }

    /// Order of rows: by `value`, then by key.
    private struct Place: Hashable, Comparable {
        var value: UInt64
        var key: Int64

        static func < (a: Place, b: Place) -> Bool { (a.value, a.key) < (b.value, b.key) }
    }

    private struct Row: Sendable {
        var place: Place
        var item: Item
    }

    /// Rows in order, at least one.
    private final class Chunk: Sendable {
        let rows: [Row]

        init(_ rows: [Row]) { self.rows = rows }
    }

    private static let largestChunk = 256

    private final class State: Sendable {}

    public let query: Query
    private var state = State()
    private var chunks: [Chunk] = []
    public private(set) var count = 0

    /// - Parameter rows: the rows of the query, in any order. O(n log n).
    public init(_ query: Query, _ rows: [AgedItem]) {
        self.query = query
        apply(rows.map { (nil, $0) })
    }

    /// Identity of the state, the same for unchanged copies. It may be reused when no copy is left.
    public var stateID: ObjectIdentifier { ObjectIdentifier(state) }

    // MARK: Changing

    /// Applies the changes of a commit. O(steps (log steps + chunk size) + chunks (1 + log steps)).
    /// - Parameter steps: each row at most once. Rows that do not match the query are ignored.
    public mutating func apply(_ steps: [Step]) {
        var edits: [Place: Item?] = [:]
        for step in steps {
            let after = step.after.flatMap { matches($0) ? $0 : nil }
            if let before = step.before, matches(before) { edits.updateValue(nil, forKey: place(before)) }
            if let after { edits.updateValue(after.item, forKey: place(after)) }
        }
        guard !edits.isEmpty else { return }
        state = State()
        let sorted = edits.sorted { $0.key < $1.key }
        var next = sorted.startIndex
        var result: [Chunk] = []
        result.reserveCapacity(chunks.count + 1)
        for (index, chunk) in chunks.enumerated() {
            let following = index + 1 < chunks.count ? chunks[index + 1].rows[0].place : nil
            let end =
                following.map { place in sorted[next...].partitioningIndex { $0.key >= place } } ?? sorted.endIndex
            if end == next {
                result.append(chunk)
            } else {
                Self.add(Self.merged(chunk.rows, sorted[next..<end]), to: &result)
            }
            next = end
        }
        if chunks.isEmpty { Self.add(Self.merged([], sorted[...]), to: &result) }
        chunks = result
        count = result.reduce(0) { $0 + $1.rows.count }
    }

    private static func merged(_ rows: [Row], _ edits: ArraySlice<(key: Place, value: Item?)>) -> [Row] {
        var result: [Row] = []
        result.reserveCapacity(rows.count + edits.count)
        var index = 0
        for (place, item) in edits {
            let end = rows[index...].partitioningIndex { $0.place >= place }
            result += rows[index..<end]
            index = end < rows.count && rows[end].place == place ? end + 1 : end
            if let item { result.append(Row(place: place, item: item)) }
        }
        return result + rows[index...]
    }

    /// Adds rows as chunks of about equal size; first merges them with the previous chunk if together they fill at
    /// most half a chunk.
    private static func add(_ rows: [Row], to chunks: inout [Chunk]) {
        if rows.isEmpty { return }
        var rows = rows
        if let last = chunks.last, last.rows.count + rows.count <= largestChunk / 2 {
            rows = last.rows + rows
            chunks.removeLast()
        }
        let number = (rows.count + largestChunk - 1) / largestChunk
        for index in 0..<number {
            chunks.append(Chunk(Array(rows[rows.count * index / number..<rows.count * (index + 1) / number])))
        }
    }

    private func matches(_ row: AgedItem) -> Bool {
        query.matches(key: row.item.key, group: row.item.group, score: row.item.score)
    }

    private func place(_ row: AgedItem) -> Place {
        // Scores are signed, but values of places are unsigned.
        let score = UInt64(bitPattern: row.item.score) ^ UInt64(1) << 63
        let value =
            switch query.order {
            case .none, .list: row.age
            case .scoreAscending: score
            case .scoreDescending: ~score
            }
        return Place(value: value, key: row.item.key)
    }

    // MARK: Reading

    /// Calls `body` with the rows at `indices` that exist, in order. O(chunks), and O(1) for each row.
    public func forEach(_ indices: Range<Int>, _ body: (Item) -> Void) {
        var start = 0
        for chunk in chunks {
            if start >= indices.upperBound { return }
            let end = start + chunk.rows.count
            for index in indices.clamped(to: start..<end) { body(chunk.rows[index - start].item) }
            start = end
        }
    }

    /// Differences from an older state of the same query. O(chunks + rows of the chunks that differ).
    public func changes(since old: OrderedView) -> Changes {
        var changes = Changes()
        var (deleted, inserted): (Set<Int64>, [Int64]) = ([], [])
        var (from, to) = (Cursor(old.chunks), Cursor(chunks))
        while true {
            if from.isAtStart, to.isAtStart, let chunk = from.chunk, chunk === to.chunk {
                from.skipChunk()
                to.skipChunk()
                continue
            }
            let (before, after) = (from.row, to.row)
            if before == nil, after == nil { break }
            if let before, let after, before.place == after.place {
                if before.item != after.item { changes.modifications.append(to.index) }
                from.advance()
                to.advance()
            } else if let before, after.map({ before.place < $0.place }) ?? true {
                changes.deletions.append(from.index)
                deleted.insert(before.place.key)
                from.advance()
            } else if let after {
                changes.insertions.append(to.index)
                inserted.append(after.place.key)
                to.advance()
            }
        }
        changes.moveCount = inserted.count(where: deleted.contains)
        return changes
    }

    private struct Cursor {
        let chunks: [Chunk]
        private var number = 0
        private var offset = 0
        /// Index of the row in the view.
        private(set) var index = 0

        init(_ chunks: [Chunk]) { self.chunks = chunks }

        var isAtStart: Bool { offset == 0 }
        var chunk: Chunk? { number < chunks.count ? chunks[number] : nil }
        var row: Row? { number < chunks.count ? chunks[number].rows[offset] : nil }

        mutating func skipChunk() {
            index += chunks[number].rows.count
            number += 1
        }

        mutating func advance() {
            index += 1
            offset += 1
            if offset == chunks[number].rows.count { (number, offset) = (number + 1, 0) }
        }
    }
}
