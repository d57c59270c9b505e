// An observer of one object, and how what the log says of the object's row becomes a list of changed properties. Used on
// the connection's scheduler, except `mailSlot` and what is constant.

/// What the observer of an object is told.
package enum DeliveredObjectChange {
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

    package init(name: String, oldValue: ColumnValue, newValue: ColumnValue) {
        self.name = name
        self.oldValue = oldValue
        self.newValue = newValue
    }
}

/// What a commit, or several, did to one observed object.
struct ObjectChangeEntry {
    /// The last of the versions in it.
    var version: UInt64
    var columns: UInt64
    /// Bit i: the objects of the token's backlink property i are others.
    var backlinks: UInt64 = 0
    var isDeletion: Bool
    /// Observers that are not to hear of it.
    var skippedBy: [TokenState] = []
}

/// News of one observed object.
package struct ObjectUpdate {
    package let token: ObjectToken
    private(set) var entries: [ObjectChangeEntry]
    /// Why nobody can say what else became of the object.
    package private(set) var failure: StoreError?

    init(_ token: ObjectToken, _ entries: [ObjectChangeEntry]) {
        self.token = token
        self.entries = []
        for entry in entries { add(entry) }
    }

    package init(_ token: ObjectToken, failure: StoreError) {
        self.token = token
        entries = []
        self.failure = failure
    }

    /// Adds later news. What nobody skips is one entry, so a slow observer costs no more than its skips.
    package mutating func add(_ later: ObjectUpdate) {
        for entry in later.entries { add(entry) }
        failure = failure ?? later.failure
    }

    private mutating func add(_ entry: ObjectChangeEntry) {
        if let last = entries.last, last.skippedBy.isEmpty, entry.skippedBy.isEmpty, !last.isDeletion {
            entries[entries.count - 1] = ObjectChangeEntry(
                version: entry.version, columns: last.columns | entry.columns,
                backlinks: last.backlinks | entry.backlinks, isDeletion: entry.isDeletion)
        } else {
            entries.append(entry)
        }
    }
}

/// A property that is the way back along a link or a list of links.
package struct Backlink: Sendable {
    let name: String
    let edge: LinkEdge

    package init(name: String, edge: LinkEdge) {
        self.name = name
        self.edge = edge
    }
}

/// One observer of one object on one connection.
///
/// Unchecked because what changes is the connection's scheduler's, but for `mailSlot`, which the mailbox guards.
package final class ObjectToken: TokenState, @unchecked Sendable {
    package let table: Table
    package let id: ObjectID
    /// Bit i: changes of column i are told.
    private let columns: UInt64
    /// Backlink properties whose changes are told.
    package let backlinks: [Backlink]
    /// Changes up to this version were made before there was the observer.
    package let since: UInt64
    /// Place of the waiting news in the mailbox, −1 when there is none. Guarded by the mailbox's lock.
    var mailSlot = -1
    /// The row when there came to be the observer, until it is told of a change.
    private var known: [UInt8]?
    private var deliver: ((DeliveredObjectChange) -> Void)?

    package init(
        _ table: Table, _ id: ObjectID, columns: UInt64, backlinks: [Backlink], since: UInt64, known: RowReader,
        _ deliver: @escaping (DeliveredObjectChange) -> Void
    ) {
        self.table = table
        self.id = id
        self.columns = columns
        self.backlinks = backlinks
        self.since = since
        self.known = known.copy(table.layout)
        self.deliver = deliver
    }

    package func tell(_ change: DeliveredObjectChange) { deliver?(change) }
    package override func releaseCallback() { deliver = nil }

    /// What the observer is to hear of `update`; nil for nothing.
    /// - Parameters:
    ///   - old: the row at the last delivery; - new: the row now.
    package func change(_ update: ObjectUpdate, old: RowReader?, new: RowReader?) -> DeliveredObjectChange? {
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
        let others = backlinks.indices.filter { led >> UInt64($0) & 1 != 0 }.map {
            PropertyChange(name: backlinks[$0].name, oldValue: .null, newValue: .null)
        }
        return .change(changes(written & columns, old, before, new) + others)
    }

    private func changes(
        _ columns: UInt64, _ old: RowReader?, _ before: [UInt8]?, _ new: RowReader
    ) -> [PropertyChange] {
        func list(_ old: RowReader?) -> [PropertyChange] {
            table.schema.columns.indices.compactMap { column in
                guard columns & (1 << UInt64(column)) != 0 else { return nil }
                let schema = table.schema.columns[column]
                return PropertyChange(
                    name: schema.name, oldValue: old?.value(column, schema) ?? .null,
                    newValue: new.value(column, schema))
            }
        }
        return before.map { $0.withUnsafeBytes { list(RowReader($0)) } } ?? list(old)
    }
}
