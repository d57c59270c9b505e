// Properties whose sets are reported at once, not only at deliveries: observers of single properties, and properties
// read by `withObservationTracking`. A connection makes this object for the first of them. Setters call it before and
// after each set; without it they only test for nil.
//
// Used on the connection's scheduler. No lock is held during callbacks, except the write lock in a setter.
import Observation

final class ObservedCells {
    struct Row: Hashable {
        let table: UInt32
        let id: ObjectID

        init(_ table: Table, _ id: ObjectID) {
            self.table = table.id
            self.id = id
        }
    }

    private struct Watchers {
        var properties: [PropertyObserver] = []
        var tracked: TrackedRow?
    }

    private var rows: [Row: Watchers] = [:]

    var isEmpty: Bool { rows.isEmpty }

    func add(_ observer: PropertyObserver) {
        rows[Row(observer.token.object.table, observer.token.object.id), default: Watchers()].properties.append(
            observer)
    }

    func remove(_ token: ObjectToken) {
        let row = Row(token.object.table, token.object.id)
        guard var watchers = rows[row] else { return }
        watchers.properties.removeAll { $0.token === token }
        set(watchers, row)
    }

    private func set(_ watchers: Watchers, _ row: Row) {
        rows[row] = watchers.properties.isEmpty && watchers.tracked == nil ? nil : watchers
    }

    // MARK: Own writes

    func willSet(_ table: Table, _ id: ObjectID, _ column: Int) {
        guard let watchers = rows[Row(table, id)] else { return }
        for observer in watchers.properties where observer.column == column { observer.willSet() }
        watchers.tracked?.willSet(column)
    }

    func didSet(_ table: Table, _ id: ObjectID, _ column: Int, _ connection: Connection) {
        let row = Row(table, id)
        guard let watchers = rows[row], let now = connection.currentRow(table, id) else { return }
        let value = now.value(column, table.schema.columns[column])
        for observer in watchers.properties where observer.column == column { observer.changed(to: value, isOwn: true) }
        if let tracked = watchers.tracked {
            tracked.didSet(column, value)
            dropIfSilent(row)
        }
    }

    /// Reports the restored values after a write was cancelled.
    func didCancel(_ connection: Connection) {
        for (row, watchers) in rows {
            for observer in watchers.properties {
                observer.recheck(connection.newestRow(observer.token.object.table, row.id))
            }
            watchers.tracked?.fire(columns: .max) { _ in nil }
            dropIfSilent(row)
        }
    }

    // MARK: Tracking

    func track(_ table: Table, _ id: ObjectID, _ column: Int, _ connection: Connection) {
        let row = Row(table, id)
        var watchers = rows[row] ?? Watchers()
        let tracked = watchers.tracked ?? TrackedRow()
        watchers.tracked = tracked
        rows[row] = watchers
        tracked.access(column)
        if tracked.token == nil { tracked.token = watch(table, row, tracked, connection) }
    }

    /// Observes the row, so that deliveries fire its tracked properties. Returns nil if that fails, as inside a write,
    /// where objects cannot be observed.
    private func watch(
        _ table: Table, _ row: Row, _ tracked: TrackedRow, _ connection: Connection
    ) -> NotificationToken? {
        let binding = RowBinding(connection: connection, table: table, row: row.id)
        return try? connection.observe(binding, (.max, []), madeAt: "withObservationTracking") {
            [weak self, weak tracked] change in
            guard let tracked else { return }
            switch change {
            case .deleted, .failed: tracked.fire(columns: .max) { _ in nil }
            case .change(let changes):
                for change in changes {
                    guard let column = table.schema.columns.firstIndex(where: { $0.name == change.name }) else {
                        continue
                    }
                    tracked.fire(columns: 1 << UInt64(column)) { _ in change.newValue }
                }
            }
            self?.dropIfSilent(row)
        }
    }

    /// Stops tracking a row that has not been read since it last fired.
    private func dropIfSilent(_ row: Row) {
        guard var watchers = rows[row], let tracked = watchers.tracked, tracked.columns == 0 else { return }
        tracked.token?.invalidate()
        watchers.tracked = nil
        set(watchers, row)
    }
}
