// An observer of one object. The delivered changes must lead from the old values to the new ones (I1). The deletion
// is delivered once, and nothing after it.
import Foundation
import StillingWell

final class ObjectObserver: Observer, @unchecked Sendable {
    private let row: SmallRow
    /// The values at the last delivery. With the delivered changes applied, they must be those of the object.
    private var kept: RowValue
    private var isDeleted = false

    /// Subscribes. Must be called on the site's delivery context, while the connection shows the delivered version.
    init(_ name: String, _ row: SmallRow, _ site: Site, _ connection: Connection) throws {
        self.row = row
        kept = RowValue(row)
        super.init(name, site)
        lastVersion = connection.version
        keep(try row.observe { [self] change in called { told(change, $0) } })
    }

    override var description: String { "\(super.description): object #\(kept.id.rawValue)" }

    private func told(_ change: ObjectChange<SmallRow>, _ connection: Connection) {
        load.tally.count(.objects)
        expectLaterVersion(connection)
        site.expectMayAdvance(self)
        load.verdict.expect(.i4, !isDeleted, description, "called after it had been told of the deletion")
        switch change {
        case .deleted:
            isDeleted = true
            let found = site.rows(.small, connection)?.first { $0.id == kept.id }
            load.verdict.expect(.i1, found == nil, description, "told that it is deleted, and there is \(found!)")
            site.append(deleted: row, connection)
            _ = end(.invalidate)
        case .change(let row, let changes):
            let now = RowValue(row)
            load.verdict.expectNone(.i1, follow(changes, now), description)
            kept = now
        case .error(let error):
            load.verdict.expect(.i1, false, description, "told that it cannot be read: \(error)")
        }
    }

    private func follow(_ changes: [PropertyChange], _ now: RowValue) -> String? {
        var told = kept
        if changes.isEmpty { return "a change of no property" }
        for change in changes {
            let (old, new) = (kept.value(of: change.name), now.value(of: change.name))
            guard change.oldValue == old, change.newValue == new else {
                return "\(change.name) was \(old) and is \(new), told was \(change)"
            }
            told.take(change.name, from: now)
        }
        return Difference.first("told", [told], "is", [now])
    }

    override func checkAtRest(_ connection: Connection) {
        guard let found = site.rows(.small, connection) else { return }
        let now = found.filter { $0.id == kept.id }
        load.verdict.expectNone(.i6, Difference.first("told", isDeleted ? [] : [kept], "is", now), description)
    }
}
