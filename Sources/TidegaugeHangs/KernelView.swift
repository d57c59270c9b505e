// The kernel's view of a process's waits, also of untraced locks: the futex that each thread sleeps on, and the owner
// of a mutex, which glibc stores behind the lock word. Read from /proc and from the memory of this process or a child.
// Racy: only two equal reads are evidence.
import CStillingWellPlatform
import Foundation
import StillingWellBasis
import StillingWellSync

public enum KernelView {
    /// A thread as the kernel sees it.
    public struct Thread: Sendable {
        public var tid: Int32
        public var name: String
        /// State letter: `R` running, `S` sleeping, `D` waiting for a device, …
        public var state: Character
        /// Address of the futex that it sleeps on, or nil.
        public var futex: UInt64?
        /// Thread that holds the mutex of that futex. nil if unknown or not a mutex.
        public var owner: Int32?
        /// CPU time so far. In steps of 10 ms if the kernel keeps no statistics of its scheduler.
        public var cpuNs: Int64
    }

    private enum Layout {
        /// `FUTEX_WAIT` and `FUTEX_WAIT_BITSET`, without flags.
        static let waits: Set<UInt64> = [0, 9]
        static let commandMask: UInt64 = 0x7F
        /// Lock word of a mutex with waiters that is not robust.
        static let contended: UInt32 = 2
        static let tidMask: UInt32 = 0x3FFF_FFFF
    }

    /// Returns all threads of this process or of a child. Any thread.
    public static func threads(of pid: Int32 = getpid()) -> [Thread] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        let tids = entries.compactMap { Int32($0) }.sorted()
        let known = Set(tids)
        return tids.compactMap { thread(pid, $0, known) }
    }

    private static func thread(_ pid: Int32, _ tid: Int32, _ known: Set<Int32>) -> Thread? {
        let folder = "/proc/\(pid)/task/\(tid)"
        guard let stat = contents(of: "\(folder)/stat"), let open = stat.firstIndex(of: "("),
            let close = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[stat.index(after: close)...].split(separator: " ")
        let name = String(stat[stat.index(after: open)..<close])
        let ticks = fields.count > 12 ? (Int64(fields[11]) ?? 0) + (Int64(fields[12]) ?? 0) : 0
        let exactNs = contents(of: "\(folder)/schedstat")?.split(separator: " ").first.flatMap { Int64($0) }
        var thread = Thread(
            tid: tid, name: name, state: fields.first?.first ?? "?", cpuNs: exactNs ?? ticks * 10_000_000)
        guard let call = contents(of: "\(folder)/syscall") else { return thread }
        let numbers = call.split(separator: " ").map(number)
        guard numbers.count > 3, numbers[0] == UInt64(cp_futex_call()),
            Layout.waits.contains(numbers[2] & Layout.commandMask)
        else { return thread }
        thread.futex = numbers[1]
        thread.owner = owner(pid, numbers[1], expected: UInt32(truncatingIfNeeded: numbers[3]), known)
        return thread
    }

    /// Returns the holder of the mutex with this lock word. nil if none is known, as for a condition or another futex.
    private static func owner(_ pid: Int32, _ address: UInt64, expected: UInt32, _ known: Set<Int32>) -> Int32? {
        // Lock word, count, owner, …: `struct __pthread_mutex_s`.
        var words: [UInt32] = [0, 0, 0, 0]
        let read = words.withUnsafeMutableBytes { cp_read_memory(pid, address, $0.baseAddress!, UInt($0.count)) }
        guard read == 16 else { return nil }
        let owner = Int32(bitPattern: words[2])
        if words[0] == Layout.contended, expected == Layout.contended, known.contains(owner) { return owner }
        // A robust mutex has its owner in the lock word, which may be a thread of another process.
        let robust = words[0] & Layout.tidMask
        if robust > Layout.contended, owner == Int32(bitPattern: robust) { return owner }
        return nil
    }

    /// Returns the waits for held mutexes as a snapshot.
    public static func snapshot(of pid: Int32 = getpid()) -> WaitSnapshot {
        let threads = threads(of: pid)
        var result = threads.map { WaitSnapshot.Thread(tid: $0.tid, name: $0.name) }
        for (index, thread) in threads.enumerated() {
            guard let futex = thread.futex, let owner = thread.owner else { continue }
            let resource = TracedResource(.mutex, "pthread mutex", address: futex)
            result[index].wait = .init(resource)
            if let holder = result.firstIndex(where: { $0.tid == owner }) {
                if !result[holder].holds.contains(where: { $0.resource == resource }) {
                    result[holder].holds.append(.init(resource))
                }
            } else {
                // The owner is in another process. Whether it can continue cannot be seen from here.
                result.append(.init(tid: owner, name: "process of thread \(owner)", holds: [.init(resource)]))
            }
        }
        return WaitSnapshot(threads: result, atNs: MonotonicClock.nowNs())
    }

    // MARK: Files

    private static func number(_ text: Substring) -> UInt64 {
        text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) ?? 0 : UInt64(text) ?? 0
    }

    private static func contents(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(file, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
