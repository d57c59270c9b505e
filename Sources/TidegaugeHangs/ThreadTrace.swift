// The locks that a thread holds, waits for and used last. Written by the thread, read by snapshots.
//
// Each trace has its own mutex, contended only by snapshots. Neither it nor the list's mutex is traced: they would
// trace themselves.
import CStillingWellPlatform
import Glibc
import StillingWellBasis
import StillingWellSync
import Synchronization

final class ThreadTrace: Sendable {
    /// Number of last events kept.
    static let eventCapacity = 64

    struct Entry {
        var resource: TracedResource
        var place: SourcePlace
        var sinceNs: Int64
        /// Queue whose block waits, for an entry of a wait.
        var queue: TracedResource?
    }

    struct Event {
        var kind: TracedEvent
        var resource: TracedResource
        var place: SourcePlace?
        var atNs: Int64
    }

    private struct Record {
        var name = ThreadName.current
        var holds: [Entry] = []
        /// Current waits. The last is the innermost: a wait for a queue may contain one for a mutex.
        var waits: [Entry] = []
        var events: [Event] = []
        var nextEvent = 0

        init() {
            holds.reserveCapacity(8)
            events.reserveCapacity(ThreadTrace.eventCapacity)
        }

        mutating func keep(_ event: Event) {
            if events.count < ThreadTrace.eventCapacity {
                events.append(event)
            } else {
                events[nextEvent] = event
            }
            nextEvent = (nextEvent + 1) % ThreadTrace.eventCapacity
        }

        mutating func endWait(for resource: TracedResource) {
            if let index = waits.lastIndex(where: { $0.resource == resource }) { waits.remove(at: index) }
        }
    }

    let tid = cp_thread_id()
    private let record = PlainMutex(Record())

    // MARK: On the thread

    func willWait(_ resource: TracedResource, _ place: SourcePlace) {
        let nowNs = MonotonicClock.nowNs()
        // A block that was queued by other means than `TracedQueue` occupies the queue too.
        let queue = TracedQueue.currentResource
        // Recorded before the wait, so that a reader who sees the wait also finds its lock order.
        let held = record.with { $0.holds }
        LockOrder.shared.add(held, resource, place)
        record.with {
            $0.waits.append(Entry(resource: resource, place: place, sinceNs: nowNs, queue: queue))
            $0.keep(Event(kind: .willWait, resource: resource, place: place, atNs: nowNs))
        }
    }

    func acquired(_ resource: TracedResource, _ place: SourcePlace) {
        let nowNs = MonotonicClock.nowNs()
        let held = record.with { record in
            record.endWait(for: resource)
            defer { record.holds.append(Entry(resource: resource, place: place, sinceNs: nowNs)) }
            record.keep(Event(kind: .acquired, resource: resource, place: place, atNs: nowNs))
            return record.holds
        }
        if !held.isEmpty { LockOrder.shared.add(held, resource, place) }
    }

    func gaveUp(_ resource: TracedResource) {
        record.with {
            $0.endWait(for: resource)
            $0.keep(Event(kind: .gaveUp, resource: resource, place: nil, atNs: MonotonicClock.nowNs()))
        }
    }

    func released(_ resource: TracedResource) {
        record.with { record in
            // A resource that was taken before recording began has no entry.
            if let index = record.holds.lastIndex(where: { $0.resource == resource }) { record.holds.remove(at: index) }
            record.keep(Event(kind: .released, resource: resource, place: nil, atNs: MonotonicClock.nowNs()))
        }
    }

    func enqueued(_ resource: TracedResource) {
        record.with { $0.keep(Event(kind: .enqueued, resource: resource, place: nil, atNs: MonotonicClock.nowNs())) }
    }

    func rename(_ newName: String) { record.with { $0.name = newName } }

    // MARK: Any thread

    /// Returns a copy of the record. Arrays are copied by element: a shared array would be read without the mutex and
    /// later changed in place. That is no race, but ThreadSanitizer does not see the reference counts that order it.
    func copy() -> (name: String, holds: [Entry], wait: Entry?, events: [Event]) {
        record.with {
            let ordered = ($0.events[$0.nextEvent...] + $0.events[..<$0.nextEvent]).map { $0 }
            return ($0.name, $0.holds.map { $0 }, $0.waits.last, ordered)
        }
    }

    // MARK: All threads

    private static let all = PlainMutex<[ThreadTrace]>([])
    /// Number of the current recording. Traces of earlier ones are discarded.
    private static let newest = Atomic<Int>(0)
    /// Number of the recording that this trace belongs to.
    private let generation = Atomic<Int>(0)

    static func prepare() {
        cp_on_trace_release { pointer in
            guard let pointer else { return }
            let trace = ObjectPointer.take(pointer, as: ThreadTrace.self)
            ThreadTrace.all.with { $0.removeAll { $0 === trace } }
        }
    }

    static var current: ThreadTrace {
        if let known = cp_trace_slot(0) {
            let trace = ObjectPointer.object(known, as: ThreadTrace.self)
            if trace.generation.load(ordering: .relaxed) == newest.load(ordering: .acquiring) { return trace }
            trace.restart()
            return trace
        }
        let trace = ThreadTrace()
        cp_set_trace_slot(0, ObjectPointer.kept(trace))
        trace.enter()
        return trace
    }

    private func restart() {
        record.with { $0 = Record() }
        enter()
    }

    private func enter() {
        Self.all.with {
            generation.store(Self.newest.load(ordering: .relaxed), ordering: .relaxed)
            if !$0.contains(where: { $0 === self }) { $0.append(self) }
        }
    }

    static func forgetAll() {
        all.with {
            newest.add(1, ordering: .acquiringAndReleasing)
            $0 = []
        }
    }

    static func everyone() -> [ThreadTrace] { all.with { $0 } }
}
