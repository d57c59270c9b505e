// A recording: processes write to a store, in turn and concurrently, while each write and flush is noted.
import CStillingWellWriteRecorder
import Foundation
import StillingWell
import StillingWellSeededRandom
import StillingWellSync
import StillingWellTortureSupport

/// `fork` of the C library, whose header hides it from Swift.
@_silgen_name("fork") private func forkProcess() -> pid_t

/// Runs `body` in a child process. The caller must have a single thread.
/// - Returns: the status of `waitpid`.
func inChild(_ body: () -> Int32) -> Int32 {
    let child = startChild(body)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status
}

func startChild(_ body: () -> Int32) -> pid_t {
    // Empties the output buffers, because a child that flushes its copy would print the text again.
    fflush(nil)
    let child = forkProcess()
    if child == 0 {
        let status = body()
        // Waits until the journal has every write of other threads.
        wr_leave()
        _exit(status)
    }
    if child < 0 { refuse("no process can be started: \(String(cString: strerror(errno)))") }
    return child
}

struct Recording {
    let seed: UInt64
    let durability: Durability
    /// Number of commits per writer.
    let commits: Int
    let folder: String

    /// Offset of the end mark of a flush, behind the meta data in the second page.
    private static let endMarkOffset: UInt64 = 4_096 + 512
    enum Script: String, CaseIterable {
        case anywhere
        case killedAtMark = "killed-at-mark"
        case killedAtNames = "killed-at-names"
    }

    func run(_ script: Script) {
        wr_begin(folder)
        defer { wr_end() }
        switch script {
        case .anywhere: runKilledAnywhere()
        case .killedAtMark: runKilledAtMark()
        case .killedAtNames: runKilledAtNames()
        }
    }

    /// Assumed number of journal steps per commit.
    private static let stepsPerCommit = 9

    /// Records a process with two threads, which may be killed. Two processes continue its open store, and two more
    /// follow. One of each two may be killed. A last process closes the store.
    private func runKilledAnywhere() {
        var random = SeededRandom(seed: seed)
        func somewhere(_ writers: Int) -> Int { 1 + random.below(writers * commits * Self.stepsPerCommit) }
        end(start([1, 2], .killed(after: somewhere(4))))
        let both = [start([3], .killed(after: somewhere(2))), start([4, 5], .closes)]
        for child in both { end(child) }
        let others = [start([6], .closes), start([7], .killed(after: somewhere(1)))]
        for child in others { end(child) }
        end(start([8], .closes))
    }

    /// Records a process that is killed while it names the files of a new store, and one that continues.
    private func runKilledAtNames() {
        end(start([1], .killedAtNames))
        end(start([2], .closes))
    }

    /// Records a process that is killed after the end mark of its flush, before other processes learn of that flush.
    /// A second process has the store open all the time. It is killed after it has recorded its own next flush.
    private func runKilledAtMark() {
        end(start([1], .closes))
        var (ready, killed): ([Int32], [Int32]) = ([0, 0], [0, 0])
        pipe(&ready)
        pipe(&killed)
        let other = startChild {
            do {
                let store = try Store(configuration(flushesUnasked: false))
                try write(store, by: 2)
                try store.synchronize()
                Glibc.write(ready[1], "x", 1)
                var byte: UInt8 = 0
                read(killed[0], &byte, 1)
                wr_write_beside_flushes(UInt64(3 * Self.stepsPerCommit))
                wr_end_process_at(UInt32(WR_WRITE_SYNCED), WR_ANYWHERE, 1)
                _ = TracedThread("flush") {
                    do { try store.synchronize() } catch { refuse("\(error)") }
                }
                for writer in 4... { try write(store, by: writer) }
            } catch { refuse("\(error)") }
            return 0
        }
        // Closes the write end here, so that the end of that process ends the reads.
        close(ready[1])
        defer { for end in [ready[0], killed[0], killed[1]] { close(end) } }
        var byte: UInt8 = 0
        guard read(ready[0], &byte, 1) == 1 else { refuse("the other process has said nothing") }
        end(start([3], .killedAtMark))
        Glibc.write(killed[1], "x", 1)
        end(other)
    }

    /// The way in which a process ends. A killed one ends at once, without cleanup, by `_exit(0)`.
    private enum End {
        case closes
        /// Killed after it wrote the end mark of its first flush.
        case killedAtMark
        /// Killed after the second rename of a new store's files.
        case killedAtNames
        /// Killed after about this many journal steps. A process with fewer steps leaves the store open.
        case killed(after: Int)

        var flushesUnasked: Bool {
            if case .killedAtMark = self { false } else { true }
        }
    }

    private func start(_ writers: [Int], _ end: End) -> pid_t {
        startChild {
            switch end {
            case .closes: break
            case .killedAtMark: wr_end_process_at(UInt32(WR_WRITE), Self.endMarkOffset, 1)
            case .killedAtNames: wr_end_process_at(UInt32(WR_RENAME), 0, 2)
            case .killed(let steps): wr_end_process_after(UInt64(steps))
            }
            return write(by: writers, end)
        }
    }

    private func end(_ child: pid_t) {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        if status != 0 { refuse("a process of the recording ended with \(status)") }
    }

    /// - Parameter flushesUnasked: whether the store also flushes by itself, without `synchronize`.
    func configuration(flushesUnasked: Bool = true) -> Store.Configuration {
        var configuration = Store.Configuration(path: folder, models: Content.models, durability: durability)
        // Flushes are frequent, so that there are many points to cut at.
        configuration.flushes.everyCommits = flushesUnasked ? 6 : .max
        configuration.flushes.mostCommits = flushesUnasked ? 24 : .max
        configuration.flushes.intervalNs = flushesUnasked ? 2_000_000 : nil
        return configuration
    }

    /// Writes with one thread per writer, then ends as `end` says. Returns the exit status.
    private func write(by writers: [Int], _ end: End) -> Int32 {
        do {
            let store = try Store(configuration(flushesUnasked: end.flushesUnasked))
            let threads = writers.map { writer in
                TracedThread("writer \(writer)") {
                    do { try write(store, by: writer) } catch { refuse("writer \(writer): \(error)") }
                }
            }
            for thread in threads { thread.join() }
            if case .killedAtMark = end {
                try store.synchronize()
                refuse("nothing was flushed")
            }
            guard case .closes = end else {
                // Waits until the journal has every write of the flush thread.
                wr_leave()
                _exit(0)
            }
            store.close()
        } catch {
            refuse("\(error)")
        }
        return 0
    }

    private func write(_ store: Store, by writer: Int) throws {
        var content = Content()
        for step in 0..<commits {
            let changes = content.changes(seed: seed, writer: writer, step: step)
            let count = try store.write { connection in
                for change in changes { try Content.apply(change, connection) }
                let count = try Total.increment(connection)
                Note.begins(count: count, writer: writer, step: step).post()
                return count
            }
            for change in changes { content.apply(change) }
            Note.acknowledged(count: count).post()
            guard step % 17 == 16 else { continue }
            try store.synchronize()
            Note.synchronized(count: count).post()
        }
    }
}

/// The content after each commit of a recording.
struct History {
    private(set) var contents = [Content()]

    init(_ journal: Journal, seed: UInt64) {
        var content = Content()
        for case .note(.begins(let count, let writer, let step)) in journal.steps {
            // A killed process began this commit but did not make it.
            if count == contents.count - 1 {
                contents.removeLast()
                content = contents.last!
            }
            guard count == contents.count else { refuse("commit \(count) came as number \(contents.count)") }
            for change in content.changes(seed: seed, writer: writer, step: step) { content.apply(change) }
            contents.append(content)
        }
    }
}
