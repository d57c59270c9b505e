// Failures of a flush: it fails, its process is killed, or retaining the last flush leaves no room.
import ArgumentParser
import CStillingWellWriteRecorder
import Foundation
import StillingWell
import StillingWellSync
import StillingWellTortureSupport

/// Lets a flush fail while several commits wait for it. Prints how many of them received the error, how a later commit
/// and the closing end, and the state from which the store continues when it is opened again.
struct FailedFlushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failed-flush", abstract: "Lets the disk refuse a flush that several commits wait for.")

    @Option(help: "Durability of commits: full or relaxed.")
    var durability = Durability.full

    func run() throws {
        let root = try ScratchFolder.make()
        defer { try? FileManager.default.removeItem(atPath: root) }
        guard wr_reserve(1 << 24) else { refuse("there is no address space for a journal") }
        wr_begin(root + "/store")
        var configuration = Store.Configuration(
            path: root + "/store", models: Content.models, durability: durability)
        configuration.flushes.intervalNs = nil
        do {
            let store = try Store(configuration)
            try store.write { _ = try Total.increment($0) }
            try store.synchronize()
            wr_fail_flushes(EIO)
            let told = Guarded("told", 0)
            let threads = (0..<4).map { index in
                TracedThread("writer \(index)") {
                    do {
                        try store.write { _ = try Total.increment($0) }
                        if durability == .relaxed { try store.synchronize() }
                    } catch { if Self.isOfFlush(error) { told.withLock { $0 += 1 } } }
                }
            }
            for thread in threads { thread.join() }
            print("told \(told.withLock { $0 })")
            wr_fail_flushes(0)
            // The operating system would report the next flush as a success.
            do {
                try store.write { _ = try Total.increment($0) }
                print("acknowledged")
            } catch { print(Self.isOfFlush(error) ? "refused" : "\(error)") }
            do {
                try store.closeAndSynchronize()
                print("closed")
            } catch { print(Self.isOfFlush(error) ? "closed with an error" : "\(error)") }
        }
        let store = try Store(configuration)
        print("opened at \(try store.read { try Total.count($0) })")
        try store.write { _ = try Total.increment($0) }
        print("goes on to \(try store.read { try Total.count($0) })")
    }

    private static func isOfFlush(_ error: any Error) -> Bool {
        guard case StoreError.storage(operation: "flush", code: EIO, reason: _) = error else { return false }
        return true
    }
}

/// Kills a process during a flush, just after another process was started that commits.
struct KilledFlushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "killed-flush", abstract: "Kills a process in a flush while another process commits.")

    func run() throws {
        let root = try ScratchFolder.make()
        defer { try? FileManager.default.removeItem(atPath: root) }
        guard wr_reserve(1 << 24) else { refuse("there is no address space for a journal") }
        wr_begin(root + "/store")
        let configuration = Store.Configuration(path: root + "/store", models: Content.models)
        func commit() -> Int32 {
            do {
                try Store(configuration).write { _ = try Total.increment($0) }
                return 0
            } catch { refuse("\(error)") }
        }
        _ = inChild(commit)
        let flusher = startChild {
            do {
                let store = try Store(configuration)
                wr_stall_flushes(true)
                try store.write { _ = try Total.increment($0) }
                return 0
            } catch { refuse("\(error)") }
        }
        var status: Int32 = 0
        while !wr_is_stalled() {
            if waitpid(flusher, &status, WNOHANG) != 0 { refuse("the process ended before its flush: \(status)") }
            usleep(1_000)
        }
        wr_stall_flushes(false)
        let waiter = startChild(commit)
        kill(flusher, SIGKILL)
        waitpid(flusher, &status, 0)
        waitpid(waiter, &status, 0)
        print("the waiter ended with \(status)")
        print("opened at \(try Store(configuration).read { try Total.count($0) })")
    }
}

/// Fills a store to its size limit while another process retains the last flushed state, then deletes the rows one by
/// one. Each of those commits needs new pages before the deleted rows' pages become free.
struct FullMapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "full-map",
        abstract: "Fills a store that another process has open, empties it and fills it by half.")

    func run() throws {
        let root = try ScratchFolder.make()
        defer { try? FileManager.default.removeItem(atPath: root) }
        var configuration = Store.Configuration(
            path: root + "/store", models: Content.models, durability: .relaxed, mapBytes: 1 << 20)
        configuration.flushes.intervalNs = nil
        let row = Row(group: 0, text: String(repeating: "x", count: 1_500))
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        let other = startChild {
            do {
                let store = try Store(configuration)
                try store.write { try Content.apply(.insert(1_000_000, row), $0) }
                write(ends[1], "x", 1)
                while true { pause() }
            } catch { refuse("\(error)") }
        }
        var byte: UInt8 = 0
        guard read(ends[0], &byte, 1) == 1 else { refuse("the other process has said nothing") }
        let writer = startChild {
            do {
                let store = try Store(configuration)
                print(try fill(store, row))
            } catch { print(error) }
            fflush(nil)
            return 0
        }
        var status: Int32 = 0
        waitpid(writer, &status, 0)
        kill(other, SIGKILL)
        waitpid(other, &status, 0)
    }

    private func fill(_ store: Store, _ row: Row) throws -> String {
        var count = 0
        do {
            while true {
                try store.write { try Content.apply(.insert(count, row), $0) }
                count += 1
            }
        } catch StoreError.mapFull {}
        for key in 0..<count { try store.write { try Content.apply(.delete(key), $0) } }
        for key in 0..<count / 2 { try store.write { try Content.apply(.insert(key, row), $0) } }
        return "\(count > 300 ? "full" : "refused at \(count)"), emptied, and filled by half"
    }
}
