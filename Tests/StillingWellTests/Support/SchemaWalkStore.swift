// A store whose models are made at run time. It is opened, read and written by names of classes and properties.
import Foundation

@testable import StillingWell

final class WalkStore {
    private let core: StoreCore
    private let model: WalkModel

    init(
        _ path: String, _ model: WalkModel, version: UInt64,
        _ migration: (@Sendable (Migration) throws -> Void)? = nil
    ) throws {
        let directory = try StoreDirectory(path, .relaxed, FileModes(0o600))
        let storage = try StorageRegistry.storage(directory.path) {
            try Storage.open(
                directory, durability: .relaxed, mapBytes: 1 << 30,
                schema: SchemaRequest(
                    models: model.declarations, version: version, migration: migration.map { Migration.running($0) }),
                flushes: .off, limit: .none)
        }
        core = StoreCore(storage, upkeepPollNs: nil, upkeepNowNs: Upkeep.nowNs)
        self.model = model
    }

    private func table(_ name: String) -> Table {
        core.storage.tablesByID.values.first { $0.schema.name == name }!
    }

    private func column(_ name: String, of table: Table) -> Int {
        table.schema.columns.firstIndex { $0.name == name && !$0.isGone }!
    }

    // MARK: Reading

    /// Returns the content of the models. Omits links to deleted objects for classes that were no model meanwhile.
    func content(for expected: WalkModel) throws -> WalkContent {
        let snapshot = try core.storage.openSnapshot()
        var content: WalkContent = [:]
        for model in model.models {
            let table = table(model.name)
            var lists: [String: [UInt64: WalkValue]] = [:]
            for property in model.properties where property.kind.element != nil {
                lists[property.name] = elements(of: property, table, snapshot)
            }
            var rows: [UInt64: [String: WalkValue]] = [:]
            snapshot.scan(table) { id, row, _ in
                rows[id.rawValue] = Dictionary(
                    uniqueKeysWithValues: model.properties.map { property in
                        let found = lists[property.name].map { $0[id.rawValue] ?? property.kind.empty }
                        let value =
                            found ?? property.shown(self.value(property, row, self.column(property.name, of: table)))
                        return (property.name, model.wasAbsent ? expected.existing(value, property.kind) : value)
                    })
                return true
            }
            content[model.name] = rows
        }
        try snapshot.checkReads()
        return content
    }

    private func value(_ property: WalkProperty, _ row: RowReader, _ column: Int) -> WalkValue {
        switch property.kind {
        case .int: .int(Int._read(row, column))
        case .text: .text((try? String._read(row, column)) ?? "unreadable")
        case .optionalInt: row.isNull(column) ? .none : .int(Int._read(row, column))
        case .optionalText: row.isNull(column) ? .none : .text((try? String._read(row, column)) ?? "unreadable")
        case .link: row.isNull(column) ? .none : .link(row.slot(column))
        case .ints, .texts, .links: .none
        }
    }

    /// Lists of a property, by object.
    private func elements(of property: WalkProperty, _ table: Table, _ snapshot: Snapshot) -> [UInt64: WalkValue] {
        let elements = self.table(ListTable.name(table.schema.name, property.name))
        var found: [UInt64: [(position: [UInt8], row: [UInt8])]] = [:]
        snapshot.scan(elements) { _, row, _ in
            found[row.slot(ListTable.owner), default: []].append(
                (Array(row.bytes(ListTable.position)), row.copy(elements.layout)))
            return true
        }
        return found.mapValues { list in
            let rows = list.sorted { $0.position.lexicographicallyPrecedes($1.position) }.map(\.row)
            func values<Value>(_ read: (RowReader) -> Value) -> [Value] {
                rows.map { $0.withUnsafeBytes { read(RowReader($0)) } }
            }
            switch property.kind {
            case .ints: return .ints(values { Int._read($0, ListTable.value) })
            case .texts: return .texts(values { (try? String._read($0, ListTable.value)) ?? "unreadable" })
            default: return .links(values { $0.slot(ListTable.value) })
            }
        }
    }

    // MARK: Writing

    func write(_ body: (WalkWrite) throws -> Void) throws {
        let transaction = try core.beginWrite(timeout: nil)
        defer { core.endWrite(transaction) }
        try body(WalkWrite(transaction) { self.table($0) })
        _ = try transaction.commit()
    }
}

/// A write to a store whose models are made at run time.
struct WalkWrite {
    private let transaction: WriteTransaction
    private let table: (String) -> Table

    init(_ transaction: WriteTransaction, _ table: @escaping (String) -> Table) {
        (self.transaction, self.table) = (transaction, table)
    }

    /// - Returns: the number of the new object.
    func insert(_ model: WalkClass, _ values: [String: WalkValue]) throws -> UInt64 {
        let table = table(model.name)
        func column(_ name: String) -> Int { table.schema.columns.firstIndex { $0.name == name && !$0.isGone }! }
        let id = try transaction.insert(table) { row in
            row.reset(columnCount: table.schema.columns.count)
            for column in table.layout.hiddenOptionals { row.setNull(column) }
            for (name, value) in values { value.write(row, column(name)) }
        }
        for (name, value) in values {
            for element in value.elements {
                let list = self.table(ListTable.name(model.name, name))
                let change = try transaction.countChanges(1, table, id, column(name))
                _ = try transaction.insert(list) { row in
                    row.reset(columnCount: list.schema.columns.count)
                    row.setSlot(ListTable.owner, id.rawValue)
                    ListPosition.last(change).withUnsafeBytes { row.setBytes(ListTable.position, $0) }
                    element(row)
                }
            }
        }
        return id.rawValue
    }

    func delete(_ model: WalkClass, _ id: UInt64) throws {
        try transaction.delete(table(model.name), ObjectID(rawValue: id))
    }
}
