// An observer of one object, and how what the log says of the object's row becomes a list of changed properties. Used on
// the connection's scheduler, except what is constant.

/// What the observer of an object is told.
enum DeliveredObjectChange {
    case change([PropertyChange])
    case deleted
    case failed(StoreError)
}

/// One property that changed, with its values at the last delivery and now. Links are the targets' ids; a list, and the objects
/// that lead here, have no values here.
public struct PropertyChange: Sendable, Equatable {
    /// The property.
    public let name: String
    /// Its value at the last delivery.
    public let oldValue: ColumnValue
    /// Its value now.
    public let newValue: ColumnValue

    init(name: String, oldValue: ColumnValue, newValue: ColumnValue) {
        self.name = name
        self.oldValue = oldValue
        self.newValue = newValue
    }
}

/// One observer of one object on one connection.
///
/// Unchecked because what changes is the connection's scheduler's.
final class ObjectToken: TokenState, @unchecked Sendable {
    let object: ObjectHandle
    /// Bit i: changes of column i are told.
    private let columns: UInt64
    /// The row when there came to be the observer, until it is told of a change.
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

    /// What the observer is to hear of `update`; nil for nothing.
    /// - Parameters:
    ///   - old: the row at the last delivery; - new: the row now.
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
