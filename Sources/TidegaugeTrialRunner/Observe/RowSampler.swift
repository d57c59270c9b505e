// Rows as callbacks show them, written down for the oracle, which knows what they have to be at the version that the
// callback claims. It is the only check of a store that hands out whole values, and of any store the only one of what an
// application sees while it is being called.
//
// Reading rows takes time on the observing thread, so it is bounded: the first callbacks, which fall into the warm-up,
// then one in so many, drawn from the seed; after the callback's end has been noted. What is read goes into memory that
// was reserved before, as a digest. Everything belongs to the observer's site, and is read after a hop to it.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

final class RowSampler: Sendable {
    /// Observers that are looked at; the others watch as they do.
    private static let observers = 64
    /// Callbacks from the first on that are all looked at.
    private static let firstCallbacks = 64
    /// After them one in so many, on average.
    private static let every: UInt64 = 32
    /// Rows that a change set names, of one callback.
    private static let namedRows = 8
    /// Rows read in one trial: of arrays that are there, some milliseconds.
    private static let rowBudget = 1 << 20
    /// What more there is in a row counts as so many rows.
    private static let bytesOfRow = 64
    private static let capacity = 1 << 16

    let samples: RecordBuffer<RowSample>
    private let empty: RowDigest
    private let hasChangeSets: Bool
    /// Of rows that hold more than numbers; nil where there is no more to look at.
    private let shape: RowShape?
    /// Where allocations or instructions are counted, the reading of rows must not be among them.
    private let onlyFirst: Bool
    /// How many are all looked at; of a counted trial those before it counts.
    private let firstCallbacks: Int
    // All three are the site's own.
    nonisolated(unsafe) private var random: RandomSource
    nonisolated(unsafe) private var rowsLeft: Int
    /// What was wrong inside the first row that was not whole.
    nonisolated(unsafe) private(set) var fault: String?

    /// Nil where there is nothing to look at, and for all but the first observers.
    init?(_ index: Int, _ order: Query.Order, _ spec: TrialSpec, _ capabilities: Capabilities) throws {
        guard index < Self.observers, capabilities.hasContents, capabilities.shows != .nothing else { return nil }
        hasChangeSets = capabilities.hasChangeSets
        empty = RowDigest(order, capabilities)
        onlyFirst = spec.count != nil || spec.metrics.contains(where: \.countsAllocations)
        firstCallbacks = min(Self.firstCallbacks, spec.count?.warmUpCommits ?? .max)
        random = RandomSource(seed: spec.seed, stream: 5_000_000 + UInt64(index))
        let shape = RowShape(spec)
        self.shape = shape.isPlain || capabilities.shows != .rows ? nil : shape
        rowsLeft =
            Self.rowBudget / min(spec.observers.count, Self.observers) / (1 + shape.bytesPerRow / Self.bytesOfRow)
        samples = try RecordBuffer(capacity: Self.capacity, prefaulted: Self.firstCallbacks * Self.namedRows)
    }

    /// At the end of a callback.
    /// - Parameter callback: its number.
    func look(_ delivery: borrowing Delivery, callback: Int, _ subscription: any DriverSubscription) {
        let drawn = random.next()
        guard callback < firstCallbacks || !onlyFirst && drawn % Self.every == 0 else { return }
        guard hasChangeSets else { return read(0..<Int.max, rows: delivery.count, callback, subscription) }
        // One row anywhere, and of those that have changed some that follow on each other.
        if delivery.count > 0 { readRow(Int(drawn >> 32) % delivery.count, callback, subscription) }
        let named = delivery.modifications.count + delivery.insertions.count
        let first = named > Self.namedRows ? Int(drawn >> 40) % named : 0
        for offset in 0..<min(named, Self.namedRows) {
            let place = (first + offset) % named
            let stayed = delivery.modifications.count
            let index = place < stayed ? delivery.modifications[place] : delivery.insertions[place - stayed]
            readRow(index, callback, subscription)
        }
    }

    private func readRow(_ index: Int, _ callback: Int, _ subscription: any DriverSubscription) {
        guard index >= 0, index < Int.max else { return }
        read(index..<index + 1, rows: 1, callback, subscription)
    }

    @inline(__always)
    private static func add(_ item: Item, _ first: inout Item?, _ digest: inout RowDigest) {
        if first == nil { first = item }
        digest.add(key: item.key, score: item.score, stamp: item.stamp)
    }

    private func read(_ indices: Range<Int>, rows: Int, _ callback: Int, _ subscription: any DriverSubscription) {
        guard rowsLeft >= rows else { return }
        rowsLeft -= rows
        var digest = empty
        var first: Item?
        var isReadable = true
        do {
            if let shape, let subscription = subscription as? any WholeRowSubscription {
                try subscription.forEachShownRow(indices) { row in
                    if fault == nil { fault = shape.fault(in: row) }
                    Self.add(row.item, &first, &digest)
                }
            } else {
                try subscription.forEachShown(indices) { Self.add($0, &first, &digest) }
            }
        } catch {
            isReadable = false
        }
        samples.append(
            RowSample(
                callback: Int32(clamping: callback),
                index: indices.upperBound == .max ? -1 : Int32(clamping: indices.lowerBound),
                count: isReadable ? Int32(clamping: digest.count) : -1, digest: digest.value,
                key: first?.key ?? 0, stamp: first?.stamp ?? 0))
    }
}

/// What was seen of one callback's rows.
struct RowSample: BitwiseCopyable, Sendable {
    var callback: Int32
    /// Of the one row that was read; negative: all were.
    var index: Int32
    /// Rows seen; negative where they could not be read.
    var count: Int32
    var digest: UInt64
    /// Of the first row seen.
    var key: Int64
    var stamp: Int64
}

/// A number for some rows: other rows, or the same in another order, have another, but for one case in 2^64.
struct RowDigest: Sendable {
    private let isOrdered: Bool
    private let hasStamps: Bool
    private let hasScores: Bool
    private(set) var value: UInt64 = 0
    private(set) var count = 0

    /// Of what is known on both sides: the score where rows are sorted by it, nothing but keys where only they are shown.
    /// - Parameter order: none asked for: an engine without change sets may show the rows in any.
    init(_ order: Query.Order, _ capabilities: Capabilities) {
        isOrdered = order != .none
        hasStamps = capabilities.shows == .rows
        hasScores = hasStamps && (order == .scoreAscending || order == .scoreDescending)
    }

    mutating func add(key: Int64, score: Int64, stamp: Int64) {
        var row = Self.mix(UInt64(bitPattern: key))
        if hasStamps { row = Self.mix(row ^ UInt64(bitPattern: stamp)) }
        if hasScores { row = Self.mix(row ^ UInt64(bitPattern: score)) }
        value = isOrdered ? Self.mix(value) &+ row : value &+ row
        count += 1
    }

    private static func mix(_ value: UInt64) -> UInt64 { SplitMix64.mix(value &+ SplitMix64.step) }
}
