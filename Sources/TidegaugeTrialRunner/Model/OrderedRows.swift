// The ordered rows of one query for the oracle: a sorted sequence in chunks. Finding, inserting or removing a row costs
// at most O(rows of a chunk + number of chunks). It is deliberately simple and independent of any engine's data
// structures.
import StillingWellBasis

/// Rows ascending by `order`, which is unique. A value; copies share chunks until they are written.
struct OrderedRows: Sendable {
    struct Row: Equatable, Sendable {
        var order: Int64
        var key: Int64
    }

    /// Maximum number of rows of a chunk.
    private static let fullChunk = 512

    private(set) var count = 0
    private var chunks: [ContiguousArray<Row>] = []
    /// First order and number of rows of each chunk, separate from the rows so that walks stay in the cache.
    private var firsts: ContiguousArray<Int64> = []
    private var counts: ContiguousArray<Int> = []

    /// - Parameter sorted: ascending by `order`.
    init(sorted: some RandomAccessCollection<Row>) {
        count = sorted.count
        var rest = sorted[...]
        while !rest.isEmpty {
            let chunk = ContiguousArray(rest.prefix(Self.fullChunk / 2))
            rest = rest.dropFirst(chunk.count)
            chunks.append(chunk)
            firsts.append(chunk[0].order)
            counts.append(chunk.count)
        }
    }

    subscript(index: Int) -> Row {
        var rest = index
        var chunk = 0
        while rest >= counts[chunk] {
            rest -= counts[chunk]
            chunk += 1
        }
        return chunks[chunk][rest]
    }

    /// Returns the index of the row at `order`, which must exist.
    func rank(of order: Int64) -> Int {
        let chunk = chunkIndex(of: order)
        var rank = 0
        for index in 0..<chunk { rank += counts[index] }
        return rank + offset(of: order, in: chunk)
    }

    mutating func insert(_ row: Row) {
        count += 1
        guard !chunks.isEmpty else {
            chunks = [[row]]
            firsts = [row.order]
            counts = [1]
            return
        }
        let chunk = chunkIndex(of: row.order)
        chunks[chunk].insert(row, at: offset(of: row.order, in: chunk))
        firsts[chunk] = chunks[chunk][0].order
        counts[chunk] += 1
        if counts[chunk] > Self.fullChunk { split(chunk) }
    }

    /// Removes the row at `order`, which must exist.
    mutating func remove(_ order: Int64) {
        let chunk = chunkIndex(of: order)
        let offset = offset(of: order, in: chunk)
        precondition(chunks[chunk][offset].order == order, "the oracle's model lost row with order \(order)")
        count -= 1
        chunks[chunk].remove(at: offset)
        counts[chunk] -= 1
        if counts[chunk] == 0 {
            chunks.remove(at: chunk)
            firsts.remove(at: chunk)
            counts.remove(at: chunk)
        } else {
            firsts[chunk] = chunks[chunk][0].order
        }
    }

    /// All rows in order; O(n).
    var rows: [Row] { chunks.flatMap { $0 } }

    private mutating func split(_ chunk: Int) {
        let upper = ContiguousArray(chunks[chunk][(Self.fullChunk / 2)...])
        chunks[chunk].removeLast(upper.count)
        counts[chunk] = chunks[chunk].count
        chunks.insert(upper, at: chunk + 1)
        firsts.insert(upper[0].order, at: chunk + 1)
        counts.insert(upper.count, at: chunk + 1)
    }

    /// Returns the last chunk that starts at or below `order`, otherwise the first.
    private func chunkIndex(of order: Int64) -> Int { max(firsts.partitioningIndex { $0 > order }, 1) - 1 }

    /// Returns the first offset in the chunk at or above `order`.
    private func offset(of order: Int64, in chunk: Int) -> Int { chunks[chunk].partitioningIndex { $0.order >= order } }
}
