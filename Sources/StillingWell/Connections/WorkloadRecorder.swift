// Records an application's workload without its data: when it commits, which rows are inserted, updated (by which
// columns) and deleted, and which queries it observes, from when until when. Docs/scenarios.md describes the format.
//
// No other lock is taken while the recorder's is held. Lines are built outside of it, except their ascending times.
import Foundation
import StillingWellBasis
import StillingWellSync

/// Writes the workload of one `Store` to a text file, from `Store.record(to:)` until `end()`. Any thread.
///
/// Row numbers are drawn anew for each recording, and no property values are written. Commits of other processes, and
/// by other `Store` values, are not recorded. Each commit adds its operations as text to a buffer, which is written to
/// the file in chunks.
public final class WorkloadRecorder: Sendable {
    fileprivate struct State {
        var file: FileHandle?
        var waiting = ""
        var lastNs: Int64
        var nextQuery = 1
        var failure: StoreError?
    }

    /// Bytes buffered before they are written to the file.
    private static let chunkBytes = 1 << 16

    private let state: Guarded<State>
    private let path: String
    private let startNs: Int64
    private let salt = UInt64.random(in: 0 ... .max)
    private let clock: @Sendable () -> Int64
    private let whenEnded: @Sendable (ObjectIdentifier) -> Void

    /// - Parameters:
    ///   - clock: returns nanoseconds.
    ///   - whenEnded: called with the identity of the recorder each time it is ended.
    init(
        to path: String, holding rows: [(table: String, count: Int)], clock: @escaping @Sendable () -> Int64,
        whenEnded: @escaping @Sendable (ObjectIdentifier) -> Void
    ) throws(StoreError) {
        guard let file = FileHandle(closedOnExec: path, O_WRONLY | O_CREAT | O_TRUNC) else {
            let reason = String(cString: strerror(errno))
            throw .cannotRecord(path: path, reason: "the file cannot be made: \(reason)")
        }
        (self.path, self.clock, self.whenEnded) = (path, clock, whenEnded)
        startNs = clock()
        state = Guarded("workload recorder", State(file: file, lastNs: startNs))
        for (table, count) in rows where count > 0 { write("holds \(Self.word(table)) \(count)", sinceNs: startNs) }
    }

    deinit { try? end() }

    /// Ends the recording and closes the file. May be called repeatedly.
    /// - Throws: `cannotRecord` if a part could not be written.
    public func end() throws {
        whenEnded(ObjectIdentifier(self))
        write("end", sinceNs: nil)
        let failure = state.withLock { state in
            state.flush(path)
            try? state.file?.close()
            state.file = nil
            return state.failure
        }
        if let failure { throw failure }
    }

    // MARK: Events of the store

    /// Current time, to pass later as the beginning of an event.
    var nowNs: Int64 { clock() }

    /// Records the changes of a write that began at `beganNs`.
    func commit(_ entries: [LogEntry], beganNs: Int64, _ schema: (UInt32) -> TableSchema?) {
        if entries.isEmpty { return }
        var text = "commit \(entries.count)"
        for entry in entries {
            guard let table = schema(entry.table) else { continue }
            let row = String(SplitMix64.mix(salt &+ UInt64(entry.table) << 48 &+ entry.id), radix: 16)
            let name = Self.word(table.name)
            let line =
                switch LogEntry.Operation(rawValue: entry.operation) {
                case .insert: "\n insert \(name) \(row)"
                case .delete: "\n delete \(name) \(row)"
                case .update, nil: "\n update \(name) \(row) \(Self.names(entry.columns, table))"
                }
            text += line
        }
        write(text, sinceNs: beganNs)
    }

    /// Records that a query is observed from now on.
    /// - Returns: the query's number in the recording.
    func subscribe(_ plan: QueryPlan, _ table: TableSchema) -> Int {
        let number = state.withLock { state in
            defer { state.nextQuery += 1 }
            return state.nextQuery
        }
        var text = "subscribe \(number) \(Self.word(table.name))"
        if plan.columns != 0 { text += " filter=\(Self.names(plan.columns, table))" }
        if let term = plan.tree.sort.first {
            text += " sort=\(term.ascending ? "" : "-")\(Self.word(table.columns[term.ownColumn].name))"
        }
        if let limit = plan.limit { text += " limit=\(limit)" }
        write(text, sinceNs: nil)
        return number
    }

    func found(_ query: Int, _ count: Int) { write("found \(query) \(count)", sinceNs: nil) }

    func drop(_ query: Int) { write("drop \(query)", sinceNs: nil) }

    // MARK: Lines

    /// - Parameter sinceNs: when the event began; nil for now. Raised to the time of the previous line if earlier.
    private func write(_ text: String, sinceNs: Int64?) {
        state.withLock { state in
            guard state.file != nil else { return }
            state.lastNs = max(state.lastNs, sinceNs ?? clock())
            let seconds = String(format: "%.6f", Double(state.lastNs - startNs) / 1e9)
            state.waiting += "\(seconds) \(text)\n"
            if state.waiting.utf8.count > Self.chunkBytes { state.flush(path) }
        }
    }

    /// Returns a name without blanks, which a generic class name may contain.
    private static func word(_ name: String) -> String { name.filter { !$0.isWhitespace } }

    private static func names(_ columns: UInt64, _ table: TableSchema) -> String {
        table.columns.indices.filter { columns & 1 << UInt64($0) != 0 }.map { word(table.columns[$0].name) }
            .joined(separator: ",")
    }
}

extension WorkloadRecorder.State {
    fileprivate mutating func flush(_ path: String) {
        do {
            try file?.write(contentsOf: Data(waiting.utf8))
        } catch {
            failure = failure ?? .cannotRecord(path: path, reason: "\(error)")
        }
        waiting = ""
    }
}
