// Samples the rows that callbacks show. The oracle compares them with the rows at the callback's version.
//
// Reading rows takes time on the observing thread, so it is limited to the first callbacks, which are usually in the
// warm-up, and to random later ones. It runs after the end of the callback has been recorded, and stores a digest in
// preallocated memory. Everything but `found` belongs to the observer's delivery context, and is read elsewhere after
// `DeliveryContext.run`.
//
// An engine in another process sends its rows in any case and takes the times itself, so reading them does not
// lengthen those times. Every delivery is read, up to `receivedRowBudget`.
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

final class RowSampler: Sendable {
    /// Maximum number of observers that are sampled.
    private static let observers = 64
    /// Number of first callbacks that are all sampled.
    private static let firstCallbacks = 64
    /// Mean interval between later samples, in callbacks.
    private static let every: UInt64 = 32
    /// Maximum number of rows per callback that are sampled from its change set.
    private static let namedRows = 8
    /// Maximum number of rows read in one trial over all observers.
    private static let rowBudget = 1 << 20
    /// Maximum number of rows that are read as whole deliveries of an engine in another process, in one trial over all
    /// observers.
    private static let receivedRowBudget = 1 << 26
    /// Bytes of extra columns that count as one row of the budget.
    private static let bytesOfRow = 64
    private static let capacity = 1 << 16

    let samples: RecordBuffer<RowSample>
    private let empty: RowDigest
    private let hasChangeSets: Bool
    /// Shape of rows with extra columns; nil if there are none to check.
    private let shape: RowShape?
    /// Whether later callbacks are not sampled, because allocations or instructions are counted.
    private let onlyFirst: Bool
    /// Number of first callbacks to sample; in a counted trial at most the warm-up commits.
    private let firstCallbacks: Int
    private let random: DeliveryBound<RandomSource>
    private let rowsLeft: DeliveryBound<Int>
    private let receivedRowsLeft: DeliveryBound<Int>
    /// Fault inside the first row that was not whole. Locked, because a faulty engine may call an observer after the
    /// load, while the fault is read.
    private let found = Mutex<String?>(nil)

    /// Returns nil if rows are not kept or not shown, and for all but the first 64 observers.
    init?(_ index: Int, _ order: Query.Order, _ spec: TrialSpec, _ capabilities: Capabilities) throws {
        guard index < Self.observers, capabilities.hasContents, capabilities.shows != .nothing else { return nil }
        hasChangeSets = capabilities.hasChangeSets
        empty = RowDigest(order, capabilities)
        onlyFirst = spec.count != nil || spec.metrics.contains(where: \.countsAllocations)
        firstCallbacks = min(Self.firstCallbacks, spec.count?.warmUpCommits ?? .max)
        random = DeliveryBound(RandomSource(seed: spec.seed, stream: 5_000_000 + UInt64(index)))
        let shape = RowShape(spec)
        self.shape = shape.isPlain || capabilities.shows != .rows ? nil : shape
        rowsLeft = DeliveryBound(
            Self.rowBudget / min(spec.observers.count, Self.observers) / (1 + shape.bytesPerRow / Self.bytesOfRow))
        receivedRowsLeft = DeliveryBound(Self.receivedRowBudget / min(spec.observers.count, Self.observers))
        samples = try RecordBuffer(capacity: Self.capacity, prefaulted: Self.firstCallbacks * Self.namedRows)
    }

    /// Fault inside the first row that was not whole. Any thread.
    var fault: String? { found.withLock { $0 } }

    /// Samples the rows of a callback at its end.
    /// - Parameter callback: number of the callback.
    func look(_ delivery: borrowing Delivery, callback: Int, _ subscription: any DriverSubscription) {
        let drawn = random.value.next()
        if delivery.atNs != nil, delivery.count <= receivedRowsLeft.value {
            receivedRowsLeft.value -= delivery.count
            // Rows of the first change sets are read one by one too: a difference in one of them names the row.
            if hasChangeSets, callback < firstCallbacks { readNamed(delivery, drawn, callback, subscription) }
            return append(0..<Int.max, callback, subscription)
        }
        guard callback < firstCallbacks || !onlyFirst && drawn % Self.every == 0 else { return }
        guard hasChangeSets else { return read(0..<Int.max, rows: delivery.count, callback, subscription) }
        readNamed(delivery, drawn, callback, subscription)
    }

    /// Reads one random row, and some consecutive rows of the change set.
    private func readNamed(
        _ delivery: borrowing Delivery, _ drawn: UInt64, _ callback: Int, _ subscription: any DriverSubscription
    ) {
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
        guard rowsLeft.value >= rows else { return }
        rowsLeft.value -= rows
        append(indices, callback, subscription)
    }

    private func append(_ indices: Range<Int>, _ callback: Int, _ subscription: any DriverSubscription) {
        var digest = empty
        var first: Item?
        var isReadable = true
        do {
            if let shape, let subscription = subscription as? any WholeRowSubscription {
                try subscription.forEachShownRow(indices) { row in
                    if let fault = shape.fault(in: row) { found.withLock { $0 = $0 ?? fault } }
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

/// A sample of the rows that one callback showed.
struct RowSample: BitwiseCopyable, Sendable {
    var callback: Int32
    /// Index of the single row that was read; negative if all rows were read.
    var index: Int32
    /// Number of rows read; negative if they could not be read.
    var count: Int32
    var digest: UInt64
    /// Key and column `stamp` of the first row read; 0 without one.
    var key: Int64
    var stamp: Int64
}

/// A hash of rows. Rows that differ in a hashed field, or in the order of ordered rows, have the same hash with a
/// probability of about 2⁻⁶⁴.
struct RowDigest: Sendable {
    private let isOrdered: Bool
    private let hasStamps: Bool
    private let hasScores: Bool
    private(set) var value: UInt64 = 0
    private(set) var count = 0

    /// Hashes only the fields that both sides know: scores only if rows are sorted by them, stamps only if shown.
    /// - Parameter order: for `.none`, the hash ignores the order, because such rows may be shown in any order.
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
