// Reads the order of lists through a `RowSource`, which keeps a failure to read.
import StillingWellTree

extension ListOrder {
    func count(of owner: ObjectID, in source: any RowSource) -> Int {
        source.reading(or: 0) { (transaction) throws(EngineFailure) in try count(of: owner.rawValue, transaction) }
    }

    /// The elements of a list in its order. O(n).
    func ids(of owner: ObjectID, in source: any RowSource) -> [ObjectID] {
        source.reading(or: []) { (transaction) throws(EngineFailure) in
            try ids(of: owner.rawValue, in: 0..<Int.max, transaction)
        }
    }

    /// The elements at a range of ranks. O(log n + elements).
    func ids(of owner: ObjectID, in ranks: Range<Int>, in source: any RowSource) -> [ObjectID] {
        source.reading(or: []) { (transaction) throws(EngineFailure) in
            try ids(of: owner.rawValue, in: ranks, transaction)
        }
    }

    private func ids(
        of owner: UInt64, in ranks: Range<Int>, _ transaction: LMDBTransaction
    ) throws(EngineFailure) -> [ObjectID] {
        var found: [ObjectID] = []
        try forEach(of: owner, in: ranks, transaction) { found.append($1) }
        return found
    }

    func run(around rank: Int, of owner: ObjectID, in source: any RowSource) -> ListRun {
        source.reading(or: ListRun(count: 0, first: 0, ids: [])) { (transaction) throws(EngineFailure) in
            try run(around: rank, of: owner.rawValue, transaction)
        }
    }

    func rank(
        of element: ObjectID, at position: UnsafeRawBufferPointer, of owner: ObjectID, in source: any RowSource
    ) -> (rank: Int, run: ListRun)? {
        source.reading(or: nil) { (transaction) throws(EngineFailure) in
            try rank(of: element, at: position, of: owner.rawValue, transaction)
        }
    }
}
