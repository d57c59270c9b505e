import CStillingWellPlatform
import Foundation
import Glibc

/// Processes with a variable in their environment, and the descendants of these. A process that clears its environment
/// and whose parents have ended is not found.
public struct ProcessFamily: Sendable {
    /// Name and value of the variable.
    public let name: String
    public let value: String

    /// - Parameter value: a text that no other family has.
    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

    public var environment: [String: String] { [name: value] }

    private static let killForNs: Int64 = 5_000_000_000

    /// Returns the processes of the family that run now, without this one.
    public func members() -> [pid_t] {
        let mark = Array("\(name)=\(value)".utf8)
        var children: [pid_t: [pid_t]] = [:]
        var found: Set<pid_t> = []
        for entry in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let pid = pid_t(entry), pid != getpid(), let parent = Self.parentOfRunning(pid) else { continue }
            children[parent, default: []].append(pid)
            let variables = ProcFile.text("/proc/\(pid)/environ") ?? ""
            if variables.utf8.split(separator: 0).contains(where: { $0.elementsEqual(mark) }) { found.insert(pid) }
        }
        var waiting = Array(found)
        while let parent = waiting.popLast() {
            for child in children[parent, default: []] where found.insert(child).inserted { waiting.append(child) }
        }
        return found.sorted()
    }

    /// Returns the parent of a process, or nil if it has ended.
    private static func parentOfRunning(_ pid: pid_t) -> pid_t? {
        guard let fields = fields("/proc/\(pid)"), fields.count > 1 else { return nil }
        return pid_t(fields[1])
    }

    /// Returns the state and the following fields of a process or thread, or nil if it has ended. The name in
    /// parentheses may contain any byte.
    private static func fields(_ path: String) -> [Substring]? {
        guard let text = ProcFile.text("\(path)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        return fields.first == "Z" || fields.first == "X" ? nil : fields
    }

    /// Kills the family and waits until none of it runs, for about 5 s at most.
    /// - Parameter child: a child of this process that other code reaps.
    /// - Returns: the processes that still run after 5 s.
    @discardableResult
    public func kill(except child: pid_t? = nil) -> [pid_t] {
        let endNs = MonotonicClock.nowNs() + Self.killForNs
        while true {
            let members = members()
            if members.isEmpty || MonotonicClock.nowNs() > endNs { return members }
            for pid in members { _ = Glibc.kill(pid, SIGKILL) }
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + 1_000_000)
            // Children of this process, also adopted orphans, are reaped. For others the call fails.
            for pid in members where pid != child { _ = waitpid(pid, nil, WNOHANG) }
        }
    }

    /// CPU time of the family in ns, without that of processes that have ended.
    public func cpuNs() -> Int64 { members().reduce(0) { $0 + max(0, cp_process_cpu_ns($1)) } }

    /// CPU time of the family in ns if all of its threads sleep, or nil if one is in another state. The threads are
    /// read one after the other, so that only two equal results in a row show that none has run.
    public func asleepNs() -> Int64? {
        var sum: Int64 = 0
        for pid in members() {
            let folder = "/proc/\(pid)/task"
            for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                if let state = Self.fields("\(folder)/\(thread)")?.first, state != "S" { return nil }
            }
            sum += max(0, cp_process_cpu_ns(pid))
        }
        return sum
    }
}
