// CPU time of the process and of its threads, and its division among roles. Threads are known by kernel id and by name
// (/proc/self/task/*/comm), so a role is decided by how a thread was named.
import CStillingWellPlatform
import Foundation

/// CPU time of one thread so far.
public struct ThreadCPU: Sendable, Equatable {
    public var tid: Int32
    /// As the kernel has it: at most 15 bytes.
    public var name: String
    public var cpuNs: Int64
}

/// CPU clocks of a process at one moment.
public struct CPUSnapshot: Sendable, Equatable {
    public var processNs: Int64
    public var threads: [ThreadCPU]
}

/// Reads the CPU clocks. Any thread.
public struct CPUProbe: Sendable {
    public init() {}

    /// CPU time of this process, all threads, those that ended included.
    public static func processNs() -> Int64 { MonotonicClock.read(CLOCK_PROCESS_CPUTIME_ID) }

    /// CPU time of the calling thread.
    public static func currentThreadNs() -> Int64 { MonotonicClock.read(CLOCK_THREAD_CPUTIME_ID) }

    /// All threads alive. Some 20 µs per thread, charged to the caller: take it outside the window.
    public func threads() -> [ThreadCPU] {
        let tids = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tids.compactMap { entry in
            guard let tid = Int32(entry), let name = Self.name(ofThread: tid) else { return nil }
            let cpuNs = cp_thread_cpu_ns(tid)
            return cpuNs < 0 ? nil : ThreadCPU(tid: tid, name: name, cpuNs: cpuNs)
        }.sorted { $0.tid < $1.tid }
    }

    /// The start of a window. Names are read first, so that the clocks are read close together and last; of these the
    /// caller's and the process's at the very end, for the reading of the others is the caller's work and in no window.
    public func snapshot() -> CPUSnapshot {
        let me = cp_thread_id()
        var known = threads()
        for index in known.indices where known[index].tid != me {
            let cpuNs = cp_thread_cpu_ns(known[index].tid)
            if cpuNs >= 0 { known[index].cpuNs = cpuNs }
        }
        if let mine = known.firstIndex(where: { $0.tid == me }) { known[mine].cpuNs = Self.currentThreadNs() }
        return CPUSnapshot(processNs: Self.processNs(), threads: known)
    }

    /// The end of the window that `start` began: reads the clocks of the threads known there, and looks at nothing
    /// else before that, so that the reading itself is hardly in the figures.
    public func delta(since start: CPUSnapshot) -> CPUDelta {
        let processNs = Self.processNs()
        let mineNs = Self.currentThreadNs()
        let me = cp_thread_id()
        let clocks = start.threads.map { $0.tid == me ? mineNs : cp_thread_cpu_ns($0.tid) }
        var end: [ThreadCPU] = []
        for (thread, cpuNs) in zip(start.threads, clocks) where cpuNs >= 0 {
            // A name that changed is another thread under a reused id.
            guard Self.name(ofThread: thread.tid) == thread.name else { continue }
            end.append(ThreadCPU(tid: thread.tid, name: thread.name, cpuNs: cpuNs))
        }
        return CPUDelta(from: start, to: CPUSnapshot(processNs: processNs, threads: end))
    }

    static func name(ofThread tid: Int32) -> String? {
        guard let text = ProcFile.text("/proc/self/task/\(tid)/comm") else { return nil }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}

/// CPU time used within a window.
public struct CPUDelta: Sendable, Equatable {
    /// All threads, those that were born or ended within the window included.
    public var processNs: Int64
    /// Threads that lived through the window, with what they used in it.
    public var threads: [ThreadCPU]

    public init(from start: CPUSnapshot, to end: CPUSnapshot) {
        processNs = end.processNs - start.processNs
        let before = Dictionary(start.threads.map { ($0.tid, $0) }, uniquingKeysWith: { first, _ in first })
        threads = end.threads.compactMap { thread in
            // A clock that went back, or a new name, is another thread under a reused id.
            guard let known = before[thread.tid], known.name == thread.name, thread.cpuNs >= known.cpuNs else {
                return nil
            }
            return ThreadCPU(tid: thread.tid, name: thread.name, cpuNs: thread.cpuNs - known.cpuNs)
        }
    }

    /// CPU ns per role; every role is present. What no surviving thread accounts for is `other`, so the roles add up
    /// to the process (to within the microseconds between two clock reads).
    /// - Parameter classify: the role of a thread by its name.
    public func byRole(classify: (String) -> ThreadRole) -> [ThreadRole: Int64] {
        var roles = Dictionary(uniqueKeysWithValues: ThreadRole.allCases.map { ($0, Int64(0)) })
        var accountedNs: Int64 = 0
        for thread in threads {
            roles[classify(thread.name), default: 0] += thread.cpuNs
            accountedNs += thread.cpuNs
        }
        roles[.other, default: 0] += max(0, processNs - accountedNs)
        return roles
    }
}

/// Whose work a thread does.
public enum ThreadRole: String, Codable, Sendable, CaseIterable {
    /// Runs the writers' commits.
    case writer
    /// The engine's own background threads: keeps queries true and computes change sets.
    case upkeep
    /// Runs the observers' callbacks.
    case observer
    /// Everything else: the harness itself, and threads born or ended within the window.
    case other
}
