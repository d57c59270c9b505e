// CPU time of the process and its threads, by role. Threads are identified by kernel ID and name
// (/proc/self/task/*/comm); the name decides the role. A window is the time between two readings.
import CStillingWellPlatform
import Foundation

/// CPU time of a thread since its start, or in a window.
public struct ThreadCPU: Sendable, Equatable {
    public var tid: Int32
    /// Name in the kernel, at most 15 bytes.
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

    /// CPU time of this process, including ended threads.
    public static func processNs() -> Int64 { MonotonicClock.read(CLOCK_PROCESS_CPUTIME_ID) }

    /// CPU time of the calling thread.
    public static func currentThreadNs() -> Int64 { MonotonicClock.read(CLOCK_THREAD_CPUTIME_ID) }

    /// Returns all live threads. Costs the caller about 20 µs per thread: not for the measured part of a trial.
    public func threads() -> [ThreadCPU] {
        let tids = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tids.compactMap { entry in
            guard let tid = Int32(entry), let name = Self.name(ofThread: tid) else { return nil }
            let cpuNs = cp_thread_cpu_ns(tid)
            return cpuNs < 0 ? nil : ThreadCPU(tid: tid, name: name, cpuNs: cpuNs)
        }.sorted { $0.tid < $1.tid }
    }

    /// Starts a window. Reads names first and clocks last, close together. The clocks of the caller and the process
    /// are read at the very end, so that reading the others is outside the window.
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

    /// Ends the window of `start`: reads the clocks of its threads first, and then their names.
    public func delta(since start: CPUSnapshot) -> CPUDelta {
        let processNs = Self.processNs()
        let mineNs = Self.currentThreadNs()
        let me = cp_thread_id()
        let clocks = start.threads.map { $0.tid == me ? mineNs : cp_thread_cpu_ns($0.tid) }
        var end: [ThreadCPU] = []
        for (thread, cpuNs) in zip(start.threads, clocks) where cpuNs >= 0 {
            // A changed name can mean another thread with a reused ID.
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
    /// CPU time of all threads, including those that started or ended within the window.
    public var processNs: Int64
    /// Threads known at both ends of the window, with the CPU time that they used in it.
    public var threads: [ThreadCPU]

    public init(from start: CPUSnapshot, to end: CPUSnapshot) {
        processNs = end.processNs - start.processNs
        let before = Dictionary(start.threads.map { ($0.tid, $0) }, uniquingKeysWith: { first, _ in first })
        threads = end.threads.compactMap { thread in
            // A decreased clock or a changed name can mean another thread with a reused ID.
            guard let known = before[thread.tid], known.name == thread.name, thread.cpuNs >= known.cpuNs else {
                return nil
            }
            return ThreadCPU(tid: thread.tid, name: thread.name, cpuNs: thread.cpuNs - known.cpuNs)
        }
    }

    /// Returns the CPU time in ns of every role. Time of threads that started or ended in the window is `other`, so
    /// that the roles add up to the process, except for the microseconds between clock reads.
    /// - Parameter classify: returns the role for a thread's name.
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

/// Role of a thread.
public enum ThreadRole: String, Codable, Sendable, CaseIterable {
    /// Runs writers' commits.
    case writer
    /// Background threads of the engine, such as those that update queries and compute change sets.
    case upkeep
    /// Runs observers' callbacks.
    case observer
    /// All other threads, such as the harness's and those that started or ended within the window.
    case other
}
