// Who holds what and who waits for what at one moment: a value, from the traces of this process, from the kernel's view of
// any process, or from a test.

import Glibc
import StillingWellBasis
import StillingWellSync

/// The threads of a process and what they hold and wait for.
public struct WaitSnapshot: Sendable {
    /// A resource that a thread holds or waits for.
    public struct Stake: Sendable {
        public var resource: TracedResource
        /// Where it was taken, or asked for; empty where nobody knows.
        public var place: String
        /// On the monotonic clock; 0 where nobody knows.
        public var sinceNs: Int64

        public init(_ resource: TracedResource, at place: String = "", sinceNs: Int64 = 0) {
            (self.resource, self.place, self.sinceNs) = (resource, place, sinceNs)
        }
    }

    public struct Thread: Sendable {
        /// The kernel's id.
        public var tid: Int32
        public var name: String
        /// In the order they were taken.
        public var holds: [Stake]
        public var wait: Stake?

        public init(tid: Int32, name: String, holds: [Stake] = [], wait: Stake? = nil) {
            (self.tid, self.name, self.holds, self.wait) = (tid, name, holds, wait)
        }
    }

    public var threads: [Thread]
    public var atNs: Int64

    public init(threads: [Thread], atNs: Int64 = 0) { (self.threads, self.atNs) = (threads, atNs) }

    /// What this process has recorded since `Tracing.start()`. Any thread.
    public static func recorded() -> WaitSnapshot {
        let nowNs = MonotonicClock.nowNs()
        let threads = ThreadTrace.everyone().map { trace in
            let copy = trace.copy()
            var holds = copy.holds.map { Stake($0.resource, at: $0.place.description, sinceNs: $0.sinceNs) }
            if let queue = copy.wait?.queue, !holds.contains(where: { $0.resource == queue }) {
                holds.insert(Stake(queue, sinceNs: copy.wait?.sinceNs ?? 0), at: 0)
            }
            // A worker of libdispatch is nobody but the queue whose block it runs.
            let isSomebody = trace.tid == getpid() || holds.contains { $0.resource.kind == .thread }
            let queue = isSomebody ? nil : holds.last { $0.resource.kind == .queue }
            return Thread(
                tid: trace.tid, name: queue?.resource.label ?? copy.name, holds: holds,
                wait: copy.wait.map { Stake($0.resource, at: $0.place.description, sinceNs: $0.sinceNs) })
        }
        return WaitSnapshot(threads: threads.sorted { $0.tid < $1.tid }, atNs: nowNs)
    }

    /// This one, and what another view knows of threads that do not wait here.
    public func completed(by other: WaitSnapshot) -> WaitSnapshot {
        var result = self
        for thread in other.threads {
            guard let index = result.threads.firstIndex(where: { $0.tid == thread.tid }) else {
                result.threads.append(thread)
                continue
            }
            var known = result.threads[index]
            if known.wait == nil {
                known.wait = thread.wait
                known.holds += thread.holds
            }
            // Who owns what only the other view knows of may well wait here.
            known.holds += thread.holds.filter { hold in !known.holds.contains { $0.resource == hold.resource } }
            result.threads[index] = known
        }
        return result
    }
}

/// One event of a thread's last ones.
public struct TracedMoment: Sendable {
    public var kind: TracedEvent
    public var resource: TracedResource
    public var place: String
    public var atNs: Int64
}

extension Tracing {
    /// The last events of each thread, at most 64, oldest first. Any thread.
    public static func lastEvents() -> [(tid: Int32, name: String, moments: [TracedMoment])] {
        ThreadTrace.everyone().map { trace in
            let copy = trace.copy()
            return (
                trace.tid, copy.name,
                copy.events.map {
                    TracedMoment(
                        kind: $0.kind, resource: $0.resource, place: $0.place?.description ?? "", atNs: $0.atNs)
                }
            )
        }
    }

    /// What the calling thread holds, in the order it was taken. Any thread.
    public static func heldByThisThread() -> [TracedResource] {
        isOn ? ThreadTrace.current.copy().holds.map(\.resource) : []
    }

    /// Whether a thread that was traced waits for something now, and for what. Any thread.
    public static func wait(ofThread name: String) -> WaitSnapshot.Stake? {
        WaitSnapshot.recorded().threads.first { $0.name == name && $0.wait != nil }?.wait
    }
}
