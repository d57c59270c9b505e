// One row as Swift's Observation sees it. A registrar stands for one subject, so it is made per row, and only for rows
// that are read while something tracks; the objects that stand for the row share it.
import Observation
import Synchronization

/// What `withObservationTracking` has read of one row. On the connection's scheduler.
final class TrackedRow: Observable {
    private let registrar = ObservationRegistrar()
    /// Bit i: column i has been read since it last fired.
    private(set) var columns: UInt64 = 0
    /// Values that own writes have fired for, and that a delivery is still to bring.
    private var toldAlready: [Int: ColumnValue] = [:]
    var token: NotificationToken?

    private subscript(column: Int) -> Int { column }

    /// Constant; a key path is not `Sendable` because it may hold what is not.
    nonisolated(unsafe) private static let keyPaths: [KeyPath<TrackedRow, Int>] = (0..<64).map { \TrackedRow[$0] }

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

    /// Fires for what is read of some columns, unless it has been for this very value.
    func fire(columns: UInt64, _ value: (Int) -> ColumnValue?) {
        for column in 0..<64 where columns & 1 << UInt64(column) != 0 {
            if let told = toldAlready.removeValue(forKey: column), told == value(column) { continue }
            guard self.columns & 1 << UInt64(column) != 0 else { continue }
            willSet(column)
            registrar.didSet(self, keyPath: Self.keyPaths[column])
        }
    }
}

/// Tells whether a tracking goes on where the caller is. Observation does not say; but when one does, it puts the key path
/// of an access into a set, and so asks the path's argument for its hash. About 15 ns when nothing tracks.
///
/// A tracking leaves an entry here until it fires, so every connection has a probe of its own.
final class TrackingProbe: Observable {
    private struct Mark: Hashable {
        /// How often any thread has been asked. One that is asked meanwhile makes a row tracked in vain, and no harm.
        static let asked = Atomic<UInt64>(0)

        func hash(into hasher: inout Hasher) { Self.asked.add(1, ordering: .relaxed) }
    }

    private let registrar = ObservationRegistrar()
    private subscript(mark: Mark) -> Int { 0 }
    /// Constant.
    nonisolated(unsafe) private static let keyPath: KeyPath<TrackingProbe, Int> = \TrackingProbe[Mark()]

    var isTracking: Bool {
        let before = Mark.asked.load(ordering: .relaxed)
        registrar.access(self, keyPath: Self.keyPath)
        return Mark.asked.load(ordering: .relaxed) != before
    }
}
