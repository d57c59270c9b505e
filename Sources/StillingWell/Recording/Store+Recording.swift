// Starting a workload recording, and recording commits.

extension Store {
    /// Records the workload of this `Store` and its connections in a text file: commits with times and operations, and
    /// queries as they are subscribed and dropped. No property values are written. `tidegauge run --trace-file` replays
    /// the file. Docs/scenarios.md of the package describes its format.
    ///
    /// Queries that are already observed are not recorded. Any thread. O(models).
    /// - Returns: the recorder. Call `end()` on it to finish; releasing it ends the recording too.
    /// - Throws: `cannotRecord` if the file cannot be made or another recording is running; `tooManySnapshots`,
    ///   `closed`, `openedBeforeFork`; `damaged` or `storage` if the rows cannot be counted.
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
        // The file is opened only after it is known that no other recording is running: that one may write to the same
        // file.
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
    func record(_ transaction: WriteTransaction, beganNs: Int64) {
        recording.current?.commit(transaction.entries, beganNs: beganNs) { storage.tablesByID[$0]?.schema }
    }
}
