// A recording: processes that write to a store, one after the other and at the same time, while every write and flush is noted.
import CWriteRecorder
import Foundation
import LiveStore
import TracedSync

/// The C library's; its header hides it from Swift.
@_silgen_name("fork") private func forkProcess() -> pid_t

/// Runs `body` in a child process. For who has one thread.
/// - Returns: the status of `waitpid`.
func inChild(_ body: () -> Int32) -> Int32 {
    let child = startChild(body)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status
}

func startChild(_ body: () -> Int32) -> pid_t {
    let child = forkProcess()
    if child == 0 {
        let status = body()
        // Not while another thread has written something that the journal does not have yet.
        wr_leave()
        _exit(status)
    }
    if child < 0 { refuse("no process can be started: \(String(cString: strerror(errno)))") }
    return child
}

struct Recording {
    let seed: UInt64
    let durability: Durability
    /// Of each writer.
    let commits: Int
    let folder: String

    /// Records: two threads; then, from the open store that these leave behind, two processes at the same time; at last one that
    /// closes the store.
    func run() {
        wr_begin(folder)
        defer { wr_end() }
        let first = startChild { write(by: [1, 2], closes: false) }
        end(first)
        let both = [startChild { write(by: [3], closes: false) }, startChild { write(by: [4, 5], closes: true) }]
        for child in both { end(child) }
        end(startChild { write(by: [6], closes: true) })
    }

    private func end(_ child: pid_t) {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        if status != 0 { refuse("a process of the recording ended with \(status)") }
    }

    func configuration() -> Store.Configuration {
        var configuration = Store.Configuration(path: folder, models: Content.models, durability: durability)
        // Often, so that there is much to cut.
        configuration.flushes.everyCommits = 6
        configuration.flushes.mostCommits = 24
        configuration.flushes.intervalNs = 2_000_000
        return configuration
    }

    /// What a process does.
    /// - Parameter closes: or ends as if it were killed.
    private func write(by writers: [Int], closes: Bool) -> Int32 {
        do {
            let store = try Store(configuration())
            let threads = writers.map { writer in
                TracedThread("writer \(writer)") {
                    do { try write(store, by: writer) } catch { refuse("writer \(writer): \(error)") }
                }
            }
            for thread in threads { thread.join() }
            if !closes { _exit(0) }
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
            guard count == contents.count else { refuse("commit \(count) came as number \(contents.count)") }
            for change in content.changes(seed: seed, writer: writer, step: step) { content.apply(change) }
            contents.append(content)
        }
    }
}
