// Measures the CPU time of the processes of a trial's own server. Processes of writers and watchers are identified by
// the connection's owner, the others by their titles.
import Foundation
import StillingWellSync

/// Any thread.
final class ServerProcesses: Sendable {
    enum Kind: String, Sendable {
        case writer
        case watcher
    }

    /// Application name of the connections of writers and of `NotifyBatcher`, also in other processes.
    static let writerName = "tidegauge-writer"

    private struct State {
        var server: Int32 = 0
        /// Processes that serve writers on hosts. `endedBeforeNs` is the CPU time of processes that had ended before.
        var guests: Set<Int32> = []
        var endedBeforeNs: Int64 = 0
        var known: [Int32: Kind] = [:]
        /// CPU time of closed connections until their end.
        var done: [Kind: Int64] = [:]
    }

    private let state = Guarded("postgres processes", State())

    /// - Parameter server: the parent of the server's processes.
    func begin(_ server: Int32) { state.withLock { $0.server = server } }

    func add(_ process: Int32, _ kind: Kind) { state.withLock { $0.known[process] = kind } }

    func known(_ kind: Kind) -> [Int32] { state.withLock { $0.known.filter { $0.value == kind }.map(\.key) } }

    /// Records the CPU time of a process. Call it before closing its connection: an ended process cannot be read.
    func end(_ process: Int32) {
        let timeNs = Self.cpuNs(of: process) ?? 0
        state.withLock { state in
            if let kind = state.known.removeValue(forKey: process) { state.done[kind, default: 0] += timeNs }
        }
    }

    /// Adds processes that serve writers on hosts. Their ends are not observed here, so the time of all processes
    /// that end from here on without a call of `end` counts as theirs.
    func addGuests(_ processes: [Int32]) {
        let server = state.withLock { $0.server }
        let endedNs = Self.endedNs(of: server)
        state.withLock { state in
            let new = Set(processes).subtracting(state.known.keys)
            if state.guests.isEmpty, !new.isEmpty {
                state.endedBeforeNs = max(0, endedNs - state.done.values.reduce(0, +))
            }
            state.guests.formUnion(new)
        }
    }

    /// Returns CPU times in ns by kind, or nil if the main process cannot be read. Other ended processes are one kind,
    /// with the resolution of a kernel tick, usually 10 ms.
    func cpu() -> [String: Int64]? {
        let (server, known, done, guests, endedBeforeNs) = state.withLock {
            ($0.server, $0.known, $0.done, $0.guests, $0.endedBeforeNs)
        }
        guard let own = Self.cpuNs(of: server) else { return nil }
        var sums = ["postmaster": own, "ended": max(0, Self.endedNs(of: server) - done.values.reduce(0, +))]
        for (kind, timeNs) in done { sums[kind.rawValue] = timeNs }
        if !guests.isEmpty, let endedNs = sums["ended"] {
            sums["ended"] = min(endedNs, endedBeforeNs)
            sums[Kind.writer.rawValue, default: 0] += max(0, endedNs - endedBeforeNs)
        }
        let children =
            (try? String(contentsOfFile: "/proc/\(server)/task/\(server)/children", encoding: .utf8)) ?? ""
        for child in children.split(separator: " ").compactMap({ Int32($0) }) {
            guard let timeNs = Self.cpuNs(of: child) else { continue }
            let kind = guests.contains(child) ? .writer : known[child]
            sums[kind?.rawValue ?? Self.kind(of: child), default: 0] += timeNs
        }
        return sums
    }

    /// Reads the main thread's time, because each process has one thread.
    private static func cpuNs(of process: Int32) -> Int64? {
        let words = try? String(contentsOfFile: "/proc/\(process)/schedstat", encoding: .utf8).split(separator: " ")
        return words?.first.flatMap { Int64($0) }
    }

    private static func endedNs(of server: Int32) -> Int64 {
        guard let text = try? String(contentsOfFile: "/proc/\(server)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return 0 }
        // Fields from the third on; the 16th and 17th are the times of waited-for children.
        let fields = text[text.index(after: name)...].split(separator: " ")
        guard fields.count > 14, let user = Int64(fields[13]), let system = Int64(fields[14]) else { return 0 }
        return (user + system) * (1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// Returns the kind that a process's title names, such as `walwriter` for `postgres: walwriter `. The title of a
    /// client over a Unix socket is `postgres: user database [local] idle`.
    private static func kind(of process: Int32) -> String {
        let text = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)) ?? ""
        let title = text.prefix { $0 != "\0" }
        guard title.hasPrefix("postgres: ") else { return "other" }
        let words = title.dropFirst("postgres: ".count)
        let kinds = [
            "checkpointer", "background writer", "walwriter", "walsender", "autovacuum launcher", "autovacuum worker",
            "logical replication launcher", "stats collector",
        ]
        return kinds.first { words.hasPrefix($0) } ?? (words.contains("[local]") ? "client" : "other")
    }
}
