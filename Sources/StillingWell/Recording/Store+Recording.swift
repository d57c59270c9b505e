// How a recording begins, and where a write is written down.

extension Store {
    /// Writes down, in a text file, what this process asks of the store from now on: commits with their times and
    /// operations, queries as they are subscribed and dropped. No value of a property is in it. `tidegauge run --trace-file`
    /// plays the file back to this store or another one; Scenarios/README.md of the package has the format.
    ///
    /// Begin before the queries are subscribed that are to be in it. Any thread. O(models).
    /// - Returns: the recorder, on which `end()` is called when all is recorded; it ends when nobody holds it.
    /// - Throws: `cannotRecord` where the file cannot be written, or another recording goes on; `tooManySnapshots`, `closed`.
    public func record(to path: String) throws -> WorkloadRecorder {
        try record(to: path, clock: Upkeep.nowNs)
    }

    package func record(to path: String, clock: @escaping @Sendable () -> Int64) throws -> WorkloadRecorder {
        try core.checkOpen()
        let snapshot = try core.storage.openSnapshot()
        var rows: [(table: String, count: Int)] = []
        for table in core.storage.tablesByID.values.sorted(by: { $0.id < $1.id }) {
            rows.append((table.schema.name, RowQuery(.all, table).count(in: snapshot)))
        }
        try snapshot.checkReads()
        // Not before it is known that no other recording goes on, which may be to this very file.
        let recorder = try core.recording.begin {
            try WorkloadRecorder(to: path, holding: rows, clock: clock) { [weak core] in core?.recording.end($0) }
        }
        guard let recorder else {
            throw StoreError.cannotRecord(
                path: path, reason: "another recording of this store goes on, which has to end first")
        }
        return recorder
    }
}

extension StoreCore {
    /// A write is through: what it has committed is written down.
    func record(_ transaction: WriteTransaction, beganNs: Int64) {
        recording.current?.commit(transaction.entries, beganNs: beganNs) { storage.tablesByID[$0]?.schema }
    }
}
