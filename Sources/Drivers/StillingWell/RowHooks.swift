// Additional objects of rows: links to them, and a list that contains them.
import StillingWell
import TidegaugeDriver

/// Actions when a row is added or moved to the front.
struct RowHooks<Row: DrivenRow>: Sendable {
    var added: @Sendable (Row, Connection) throws -> Void
    var movedToFront: @Sendable (Row, Connection) throws -> Void

    static var none: RowHooks {
        RowHooks(
            added: { _, _ in },
            movedToFront: { _, _ in throw DriverUnavailable("the store was opened without a list") })
    }
}

extension RowHooks where Row == ItemRow {
    /// Returns hooks that add a row for queries, with a chain of `links` links from it to the row that writers change.
    static func chained(_ links: Int) -> RowHooks {
        var hooks = RowHooks.none
        hooks.added = { row, connection in
            let head = HeadRow(row.item)
            if links == 1 {
                head.row = row
            } else {
                // Each link but the last leads to an intermediate row of its own.
                var last = LinkRow()
                last.key = row.key &* HeadRow.deepest
                head.next = last
                for level in 1..<(links - 1) {
                    let link = LinkRow()
                    link.key = row.key &* HeadRow.deepest + level
                    last.next = link
                    last = link
                }
                last.row = row
            }
            try connection.add(head)
        }
        return hooks
    }

    static let listed = RowHooks(
        added: { row, connection in
            guard row.group == 0 else { return }
            try RowList.rows(connection).append(row)
        },
        movedToFront: { row, connection in
            let rows = try RowList.rows(connection)
            guard let index = try rows.index(of: row) else { throw MissingItem(key: Int64(row.key)) }
            rows.move(from: index, to: 0)
        })
}

/// The single list of rows.
final class RowList: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Listed var rows: List<ItemRow>

    /// Returns the list; makes it if it does not exist yet.
    static func rows(_ connection: Connection) throws -> List<ItemRow> {
        if let list = try connection.object(RowList.self, forPrimaryKey: 0) { return list.rows }
        let list = RowList()
        try connection.add(list)
        return list.rows
    }
}

/// The row that queries find if rows are behind links. Its own columns are copies of the row's when it was inserted.
final class HeadRow: StoredObject, DrivenRow {
    /// Maximum number of links that a store follows for changes.
    static let deepest = 3

    @Stored(.primaryKey) var key = 0
    @Stored var group = 0
    @Stored var score = 0
    @Linked var row: ItemRow?
    @Linked var next: LinkRow?

    convenience init(_ item: Item) {
        self.init()
        key = Int(item.key)
        group = Int(item.group)
        score = Int(item.score)
    }

    private var end: ItemRow? {
        var link = next
        while let following = link?.next { link = following }
        return row ?? link?.row
    }

    var stamp: Int {
        get { end?.stamp ?? 0 }
        set { end?.stamp = newValue }
    }

    var item: Item { Item(key: Int64(key), group: Int64(group), score: Int64(score), stamp: Int64(stamp)) }

    static func primaryKey(_ number: Int64) -> Int { Int(number) }
    static var numbers: KeyPath<HeadRow, Int>? { \HeadRow.key }
}

/// An intermediate row in a chain of links.
final class LinkRow: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Linked var row: ItemRow?
    @Linked var next: LinkRow?
}
