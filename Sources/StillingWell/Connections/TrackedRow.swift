// One row as a subject of Swift's Observation. A row gets its registrar when it is first read during tracking. All
// objects of the connection that stand for the row share it.
import Observation
import Synchronization

/// Properties of one row read by `withObservationTracking`. On the connection's scheduler.
final class TrackedRow: Observable {
    private let registrar = ObservationRegistrar()
    /// Bit i is set if column i has been read since it last fired.
    private(set) var columns: UInt64 = 0
    /// Values for which own writes have fired and which a delivery will report again.
    private var toldAlready: [Int: ColumnValue] = [:]
    var token: NotificationToken?

    private subscript(column: Int) -> Int { column }

    private static let keyPaths: [any KeyPath<TrackedRow, Int> & Sendable] = (0..<64).map { \TrackedRow[$0] }

    func access(_ column: Int) {
        columns |= 1 << UInt64(column)
        registrar.access(self, keyPath: Self.keyPaths[column])
    }

    func willSet(_ column: Int) {
        guard columns & 1 << UInt64(column) != 0 else { return }
        columns &= ~(1 << UInt64(column))
        registrar.willSet(self, keyPath: Self.keyPaths[column])
    }

    func didSet(_ column: Int, _ value: ColumnValue) {
        toldAlready[column] = value
        registrar.didSet(self, keyPath: Self.keyPaths[column])
    }

    /// Fires the tracked columns among `columns`, except those that already fired for the same value.
    func fire(columns: UInt64, _ value: (Int) -> ColumnValue?) {
        for column in 0..<64 where columns & 1 << UInt64(column) != 0 {
            if let told = toldAlready.removeValue(forKey: column), told == value(column) { continue }
            guard self.columns & 1 << UInt64(column) != 0 else { continue }
            willSet(column)
            registrar.didSet(self, keyPath: Self.keyPaths[column])
        }
    }
}

/// Tells whether the caller runs inside `withObservationTracking`. Observation has no function for that. While
/// tracking, it inserts the accessed key path into a set and so hashes the key path's argument. About 15 ns when
/// nothing tracks.
///
/// A tracking leaves an entry in the registrar until it fires, so each live connection has its own probe.
final class TrackingProbe: Observable {
    private struct Mark: Hashable {
        /// Number of hash calls on any thread. A concurrent call makes a row tracked needlessly, which is harmless.
        static let asked = Atomic<UInt64>(0)

        func hash(into hasher: inout Hasher) { Self.asked.add(1, ordering: .relaxed) }
    }

    private let registrar = ObservationRegistrar()
    private subscript(mark: Mark) -> Int { 0 }
    private static let keyPath: any KeyPath<TrackingProbe, Int> & Sendable = \TrackingProbe[Mark()]

    var isTracking: Bool {
        let before = Mark.asked.load(ordering: .relaxed)
        registrar.access(self, keyPath: Self.keyPath)
        return Mark.asked.load(ordering: .relaxed) != before
    }
}
