// From the return of a commit that changes one row to the delegate's `didChangeContent`, in 500 sections, at several sizes;
// and the CPU time of the whole process for it. Commits wait for the delegate: one change at a time.
import FetchedResults
import Foundation
import LiveStore
import Measure
import TracedSync

final class MeasuredRow: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored var section = 0
    @Stored var score = 0
}

enum FetchedResultsCost {
    private static let sizes = [1_000, 10_000, 100_000]
    private static let sections = 500
    private static let changes = 400
    private static let warmUp = 50

    private final class Delegate: FetchedResultsControllerDelegate {
        typealias Object = MeasuredRow
        let done = DispatchSemaphore(value: 0)
        // The delegate's thread's, until it signals `done`.
        nonisolated(unsafe) var atNs: Int64 = 0
        nonisolated(unsafe) var told = 0

        func controller(
            _ controller: FetchedResultsController<MeasuredRow>, didChange object: SafeObject<MeasuredRow>,
            at path: RowPath?, for type: FetchedChangeType, newPath: RowPath?
        ) { told += 1 }

        func controllerDidChangeContent(_ controller: FetchedResultsController<MeasuredRow>) {
            atNs = MonotonicClock.nowNs()
            done.signal()
        }
    }

    static func run() throws {
        print("rows      p50 µs   CPU µs per change   (500 sections, one row changed per commit)")
        for size in sizes { try run(size) }
    }

    private static func run(_ size: Int) throws {
        let folder = try PrivateFolder()
        defer { folder.remove() }
        let store = try Store(.init(path: "\(folder.path)/store", models: [MeasuredRow.self], durability: .memory))
        defer { store.close() }
        for start in stride(from: 0, to: size, by: 50_000) {
            try store.write { connection in
                for key in start..<min(size, start + 50_000) {
                    let row = MeasuredRow()
                    row.key = key
                    row.section = key % sections
                    row.score = key
                    try connection.add(row)
                }
            }
        }
        let thread = RunLoopThread("delegate")
        defer { thread.stop() }
        // The thread's; this one looks at the delegate once it has signalled.
        nonisolated(unsafe) let delegate = Delegate()
        nonisolated(unsafe) var controller: FetchedResultsController<MeasuredRow>?
        try thread.performAndWait {
            let connection = try store.connect(on: .runLoop)
            let request = FetchRequest(MeasuredRow.self) { $0.sorted(by: \.score) }.sectioned(by: \.section)
            let new = FetchedResultsController(connection, request)
            new.delegate = delegate
            try new.performFetch()
            controller = new
        }
        delegate.done.wait()
        var latenciesNs: [Double] = []
        var cpuStartNs: Int64 = 0
        for number in 0..<warmUp + changes {
            if number == warmUp { cpuStartNs = CPUProbe.processNs() }
            try store.write { connection in
                let row = try connection.object(MeasuredRow.self, forPrimaryKey: (number * 7_919) % size)
                row?.score = size + number
            }
            let committedNs = MonotonicClock.nowNs()
            delegate.done.wait()
            if number >= warmUp { latenciesNs.append(Double(delegate.atNs - committedNs)) }
        }
        let cpuNs = Double(CPUProbe.processNs() - cpuStartNs) / Double(changes)
        print(
            "\(size)\t  \(Timing.shown(Timing.median(latenciesNs) / 1e3))\t   \(Timing.shown(cpuNs / 1e3))\t\t   "
                + "(\(delegate.told) changes told)")
        try thread.performAndWait { controller = nil }
    }
}
