// Where rows are read besides the one at hand: what a filter over links needs. A snapshot and a write transaction are
// sources; so is a transaction whose lock the caller holds already.
import CLMDB

protocol RowSource: AnyObject {
    var storage: Storage { get }
    /// The row of an object; nil when there is none.
    func row(_ table: Table, _ id: ObjectID) -> RowReader?
    /// Runs `body` with the transaction. A write transaction has stored everything by then.
    func reading<Result>(_ body: (LMDBTransaction) -> Result) -> Result
}

extension RowSource {
    /// Ids of the rows that an index has under `key`, ascending; all of them candidates where the key is cut.
    func ids(_ index: ColumnIndex, key: [UInt8]) -> [ObjectID] { reading { index.ids($0, key: key) } }

    /// Ids of the rows whose link leads to `target`, ascending.
    func ids(_ index: ColumnIndex, linkingTo target: ObjectID) -> [ObjectID] {
        ids(index, key: ColumnIndex.key(.link(target)) ?? [])
    }

    /// Rows that an edge leads from, given rows it leads to.
    func sources(of targets: some Sequence<ObjectID>, along edge: LinkEdge) -> Set<ObjectID> {
        var found: Set<ObjectID> = []
        let elements = edge.elements.flatMap { storage.tablesByID[$0] }
        for target in targets {
            for id in ids(edge.index, linkingTo: target) {
                guard let elements else {
                    found.insert(id)
                    continue
                }
                if let row = row(elements, id) { found.insert(ObjectID(rawValue: row.slot(ListTable.owner))) }
            }
        }
        return found
    }
}

extension Snapshot: RowSource {
    func reading<Result>(_ body: (LMDBTransaction) -> Result) -> Result { withTransaction(body) }

    /// As `scan`, with a source for reading other rows meanwhile.
    func scan(_ table: Table, _ body: (ObjectID, RowReader, any RowSource) -> Void) {
        withTransaction { transaction in
            let source = HeldRows(storage, transaction)
            LMDB.scan(transaction, table.rows) { id, row in
                body(ObjectID(rawValue: id), RowReader(row), source)
                return true
            }
        }
    }
}

/// The rows of a transaction that the caller has for itself, for as long as it has.
private final class HeldRows: RowSource {
    let storage: Storage
    private let transaction: LMDBTransaction

    init(_ storage: Storage, _ transaction: LMDBTransaction) {
        self.storage = storage
        self.transaction = transaction
    }

    func row(_ table: Table, _ id: ObjectID) -> RowReader? {
        LMDB.get(transaction, table.rows, id: id.rawValue).map { RowReader($0) }
    }

    func reading<Result>(_ body: (LMDBTransaction) -> Result) -> Result { body(transaction) }
}
