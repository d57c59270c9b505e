// Rows in other tables: each has the key of its main row and the stamp of the commit that wrote it last. A model is a
// class, so there are as many classes as there can be further tables.
import StillingWell
import TidegaugeDriver

/// The superclass of the models of counterparts.
class Counterpart: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored var stamp = 0
}

final class Counterpart1: Counterpart {}
final class Counterpart2: Counterpart {}
final class Counterpart3: Counterpart {}
final class Counterpart4: Counterpart {}
final class Counterpart5: Counterpart {}
final class Counterpart6: Counterpart {}
final class Counterpart7: Counterpart {}

/// One of the further tables.
protocol CounterpartTable: Sendable {
    var model: StoredObject.Type { get }
    /// Inserts or deletes the counterpart of the changed row, or sets its stamp, within a write of the connection.
    func apply(_ change: Change, _ connection: Connection) throws
    func stamp(ofKey key: Int, _ connection: Connection) throws -> Int?
}

struct CounterpartsOf<Row: Counterpart>: CounterpartTable {
    var model: StoredObject.Type { Row.self }

    func apply(_ change: Change, _ connection: Connection) throws {
        if change.operation == .insert {
            let row = Row()
            row.key = Int(change.item.key)
            row.stamp = Int(change.item.stamp)
            return try connection.add(row)
        }
        guard let row = try connection.object(Row.self, forPrimaryKey: Int(change.item.key)) else {
            throw MissingItem(key: change.item.key)
        }
        if change.operation == .delete { return try connection.delete(row) }
        row.stamp = Int(change.item.stamp)
    }

    func stamp(ofKey key: Int, _ connection: Connection) throws -> Int? {
        try connection.object(Row.self, forPrimaryKey: key)?.stamp
    }
}

extension RowShape {
    private static let tables: [any CounterpartTable] = [
        CounterpartsOf<Counterpart1>(), CounterpartsOf<Counterpart2>(), CounterpartsOf<Counterpart3>(),
        CounterpartsOf<Counterpart4>(), CounterpartsOf<Counterpart5>(), CounterpartsOf<Counterpart6>(),
        CounterpartsOf<Counterpart7>(),
    ]

    /// Returns the tables of counterparts.
    /// - Throws: `DriverUnavailable` if there are more tables than classes for them.
    func counterpartTables() throws -> [any CounterpartTable] {
        guard furtherTables <= Self.tables.count else {
            throw DriverUnavailable(
                "the driver has models of \(Self.tables.count + 1) tables, not of \(furtherTables + 1)")
        }
        return Array(Self.tables.prefix(furtherTables))
    }
}
