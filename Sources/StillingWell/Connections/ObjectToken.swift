// An observer of one object. Turns changes of the object's row and backlinks into a list of changed properties. Used on
// the connection's scheduler, except constants.

/// An object event before it is converted to the public type.
enum DeliveredObjectChange {
    case change([PropertyChange])
    case deleted
    case failed(StoreError)
}

/// A changed property with its values before and after the change. A link is given as its target's id. For lists and
/// linking objects both values are `.null`.
public struct PropertyChange: Sendable, Equatable {
    /// The property.
    public let name: String
    /// Its value before the change.
    public let oldValue: ColumnValue
    /// Its value after the change.
    public let newValue: ColumnValue

    init(name: String, oldValue: ColumnValue, newValue: ColumnValue) {
        self.name = name
        self.oldValue = oldValue
        self.newValue = newValue
    }
}

/// One observer of one object on one connection.
///
/// Unchecked because only the connection's scheduler uses its variables.
final class ObjectToken: TokenState, @unchecked Sendable {
    let object: ObjectHandle
    /// Bit i: changes of column i are reported.
    private let columns: UInt64
    /// Row when the observer was added: at the delivered version, or as shown if that lacks it. nil once an update has
    /// been processed.
    private var known: [UInt8]?
    private var deliver: ((DeliveredObjectChange) -> Void)?

    init(
        _ object: ObjectHandle, columns: UInt64, known: RowReader,
        _ deliver: @escaping (DeliveredObjectChange) -> Void
    ) {
        self.object = object
        self.columns = columns
        self.known = known.copy(object.table.layout)
        self.deliver = deliver
    }

    func tell(_ change: DeliveredObjectChange) { deliver?(change) }
    override func releaseCallback() { deliver = nil }

    /// Returns the change to report for `update`, or nil if there is none.
    /// - Parameters:
    ///   - old: the row at the last delivery.
    ///   - new: the row now.
    func change(_ update: ObjectUpdate, old: RowReader?, new: RowReader?) -> DeliveredObjectChange? {
        if let failure = update.failure { return .failed(failure) }
        let before = known
        known = nil
        var (written, led): (UInt64, UInt64) = (0, 0)
        for entry in update.entries where !entry.skippedBy.contains(where: { $0 === self }) {
            if entry.isDeletion { return .deleted }
            written |= entry.columns
            led |= entry.backlinks
        }
        guard let new, written & columns != 0 || led != 0 else { return nil }
        let backlinks = object.backlinks
        let others = backlinks.indices.filter { led >> UInt64($0) & 1 != 0 }.map {
            PropertyChange(name: backlinks[$0].name, oldValue: .null, newValue: .null)
        }
        return .change(changes(written & columns, old, before, new) + others)
    }

    private func changes(
        _ columns: UInt64, _ old: RowReader?, _ before: [UInt8]?, _ new: RowReader
    ) -> [PropertyChange] {
        func list(_ old: RowReader?) -> [PropertyChange] {
            object.table.schema.columns.indices.compactMap { column in
                guard columns & (1 << UInt64(column)) != 0 else { return nil }
                let schema = object.table.schema.columns[column]
                return PropertyChange(
                    name: schema.name, oldValue: old?.value(column, schema) ?? .null,
                    newValue: new.value(column, schema))
            }
        }
        return before.map { $0.withUnsafeBytes { list(RowReader($0)) } } ?? list(old)
    }
}
