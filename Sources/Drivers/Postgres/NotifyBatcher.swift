// Sends `NOTIFY` for all writers of a process: immediately after a commit, and then at most once per interval, however
// many commits there are. It has a thread with its own connection.
import StillingWellBasis
import StillingWellSync
import Synchronization

/// `note` may be called by any thread.
final class NotifyBatcher: Sendable {
    private let isDirty = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)
    private let bell: Bell
    private let channel: String
    private let everyNs: Int64
    private let thread = SetOnce<TracedThread>()

    init(_ schema: PostgresSchema, everyMs: Int32, _ processes: ServerProcesses) throws {
        (bell, channel, everyNs) = (try Bell(), schema.name, Int64(everyMs) * 1_000_000)
        let connected = try schema.connect(as: ServerProcesses.writerName)
        processes.add(connected.serverProcess, .writer)
        let first = DeliveryBound(connected)
        let started = TracedThread("pg-batch") { [self] in
            var connection: PostgresConnection? = first.value
            var nextNs: Int64 = 0
            while !isOver.load(ordering: .acquiring) {
                let leftNs = nextNs - MonotonicClock.nowNs()
                if leftNs <= 0, isDirty.exchange(false, ordering: .acquiringAndReleasing) {
                    nextNs = MonotonicClock.nowNs() + everyNs
                    do {
                        let open = try connection ?? schema.connect(as: ServerProcesses.writerName)
                        connection = open
                        try open.execute("NOTIFY \(channel)")
                    } catch {
                        // The server may come back; the notification is tried again until then.
                        (connection, nextNs) = (nil, MonotonicClock.nowNs() + Int64(Patience.retryEveryMs) * 1_000_000)
                        isDirty.store(true, ordering: .releasing)
                    }
                    continue
                }
                let waits = isDirty.load(ordering: .acquiring)
                bell.wait(orFor: -1, timeoutMs: waits ? Int32(max(1, leftNs / 1_000_000)) : -1)
            }
        }
        thread.set(started)
    }

    /// Records a finished commit.
    func note() { if !isDirty.exchange(true, ordering: .acquiringAndReleasing) { bell.ring() } }

    func close() {
        isOver.store(true, ordering: .releasing)
        bell.ring()
        thread.value.join()
    }
}
