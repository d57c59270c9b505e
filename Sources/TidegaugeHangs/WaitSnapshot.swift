// The locks held and waited for at one moment: a value made from the traces of this process, from the kernel's view of
// a process, or by a test.

import Glibc
import StillingWellBasis
import StillingWellSync

/// The threads of a process, with the resources they hold and wait for.
public struct WaitSnapshot: Sendable {
    /// A resource that a thread holds or waits for.
    public struct Stake: Sendable {
        public var resource: TracedResource
        /// Source location where it was taken or requested. Empty if unknown.
        public var place: String
        /// Nanoseconds on the monotonic clock. 0 if unknown.
        public var sinceNs: Int64

        public init(_ resource: TracedResource, at place: String = "", sinceNs: Int64 = 0) {
            (self.resource, self.place, self.sinceNs) = (resource, place, sinceNs)
        }
    }

    public struct Thread: Sendable {
        /// Kernel id.
        public var tid: Int32
        public var name: String
        public var holds: [Stake]
        public var wait: Stake?

        public init(tid: Int32, name: String, holds: [Stake] = [], wait: Stake? = nil) {
            (self.tid, self.name, self.holds, self.wait) = (tid, name, holds, wait)
        }
    }

    public var threads: [Thread]
    public var atNs: Int64

    public init(threads: [Thread], atNs: Int64 = 0) { (self.threads, self.atNs) = (threads, atNs) }

    /// Returns the locks recorded in this process since `Tracing.start()`. Any thread.
    public static func recorded() -> WaitSnapshot {
        let nowNs = MonotonicClock.nowNs()
        let threads = ThreadTrace.everyone().map { trace in
            let copy = trace.copy()
            var holds = copy.holds.map { Stake($0.resource, at: $0.place.description, sinceNs: $0.sinceNs) }
            if let queue = copy.wait?.queue, !holds.contains(where: { $0.resource == queue }) {
                holds.insert(Stake(queue, sinceNs: copy.wait?.sinceNs ?? 0), at: 0)
            }
            // A worker of libdispatch is named by the queue whose block it runs.
            let isSomebody = trace.tid == getpid() || holds.contains { $0.resource.kind == .thread }
            let queue = isSomebody ? nil : holds.last { $0.resource.kind == .queue }
            return Thread(
                tid: trace.tid, name: queue?.resource.label ?? copy.name, holds: holds,
                wait: copy.wait.map { Stake($0.resource, at: $0.place.description, sinceNs: $0.sinceNs) })
        }
        return WaitSnapshot(threads: threads.sorted { $0.tid < $1.tid }, atNs: nowNs)
    }

    /// Returns this snapshot with the threads and holds that only the other one has. A thread that does not wait here
    /// gets its wait in the other one.
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
            // A thread that waits here may hold a resource that only the other snapshot has.
            known.holds += thread.holds.filter { hold in !known.holds.contains { $0.resource == hold.resource } }
            result.threads[index] = known
        }
        return result
    }
}

/// One of the last events of a thread.
public struct TracedMoment: Sendable {
    public var kind: TracedEvent
    public var resource: TracedResource
    public var place: String
    public var atNs: Int64
}

extension Tracing {
    /// Returns the last events of each thread, at most 64, oldest first. Any thread.
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

    /// Returns the resources that the calling thread holds, in the order they were taken; none while tracing is off.
    public static func heldByThisThread() -> [TracedResource] {
        isOn ? ThreadTrace.current.copy().holds.map(\.resource) : []
    }

    /// Returns what the traced thread of this name waits for, or nil. Any thread.
    public static func wait(ofThread name: String) -> WaitSnapshot.Stake? {
        WaitSnapshot.recorded().threads.first { $0.name == name && $0.wait != nil }?.wait
    }
}
