// What stands beside a run in its process: a store whose file is damaged while it is open, over and over, and children that are forked
// with the run's store open. Neither is any business of the run's store.
import Foundation
import Glibc
import LiveStore
import TracedSync

/// The C library's; its header hides it from Swift.
@_silgen_name("fork")
private func forkProcess() -> pid_t

final class Neighbours: Sendable {
    private static let pauseUs = 100_000
    private static let pageBytes = 4_096
    private static let rows = 300

    private let load: Load
    let heartbeat = Heartbeat("the neighbours")

    init(_ load: Load) { self.load = load }

    func start() -> TracedThread {
        TracedThread("neighbours") { [self] in
            var random = load.plan.random("neighbours")
            while !load.isStopping {
                if random.oneIn(2) { haveChild() } else { damageStore(&random) }
                heartbeat.beat()
                sleep(us: Self.pauseUs)
            }
            heartbeat.end()
        }
    }

    /// A child that has inherited the store, is refused, and ends.
    private func haveChild() {
        let child = forkProcess()
        if child == 0 {
            // Of what was inherited nothing may be given back, and no lock be waited for that a thread of the parent's holds.
            do {
                _ = try load.store.read { $0.version }
                _exit(2)
            } catch StoreError.openedBeforeFork {
                _exit(0)
            } catch {
                _exit(3)
            }
        }
        guard child > 0 else { return }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        load.verdict.expect(.noError, status == 0, "a forked child", "it was not refused: its status is \(status)")
        load.tally.count(.forks)
    }

    /// Another store, some of whose pages become others while it is read and written.
    private func damageStore(_ random: inout SeededRandom) {
        guard let folder = load.expectNoError("a neighbour", { try ScratchFolder.make() }) else { return }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let made = load.expectNoError("a neighbour") { () -> Store in
            let store = try Store(
                .init(path: folder, models: [Ledger.self], durability: .relaxed, mapBytes: Load.mapBytes))
            try store.write { connection in for writer in 0..<Self.rows { try Ledger.add(writer, connection) } }
            return store
        }
        guard let store = made else { return }
        defer { store.close() }
        for _ in 0..<4 {
            damagePage("\(folder)/data.mdb", &random)
            do {
                _ = try store.read { connection in try connection.objects(Ledger.self).map(\.commits).reduce(0, +) }
                _ = try store.write { try Ledger.add(random.below(Self.rows), $0) }
            } catch is StoreError {
                load.tally.count(.damagedNeighbours)
            } catch {
                load.verdict.report(.noError, "a damaged neighbour", "\(error)")
            }
        }
    }

    private func damagePage(_ path: String, _ random: inout SeededRandom) {
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return }
        let pages = Int(status.st_size) / Self.pageBytes
        guard pages > 2 else { return }
        let place = (2 + random.below(pages - 2)) * Self.pageBytes + random.below(Self.pageBytes / 8) * 8
        var word = random.next()
        _ = pwrite(file, &word, 8, off_t(place))
    }
}
