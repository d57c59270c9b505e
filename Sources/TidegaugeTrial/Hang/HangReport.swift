// Describes a hang from traces of locks, the kernel's view of futexes, and stacks obtained by signals.
import StillingWellSync
import TidegaugeHangs
import TidegaugeMeasure

package enum HangReport {
    /// Report of a deadlock: a closed cycle of waits.
    package static func deadlock(_ cycle: WaitCycle, closedNs: Int64, in snapshot: WaitSnapshot) -> HangRecord {
        let concerned = Set(cycle.links.map(\.tid))
        return HangRecord(
            .deadlock, cycle: cycle.edges, sentence: cycle.sentence, afterNs: MonotonicClock.nowNs() - closedNs,
            stands: stands(snapshot, first: concerned), events: lastEvents())
    }

    /// Report of a stall: nothing has moved since `sinceNs`.
    package static func stall(_ snapshot: WaitSnapshot, sinceNs: Int64, _ subject: String) -> HangRecord {
        let waiting = snapshot.threads.compactMap { thread -> String? in
            guard let wait = thread.wait, wait.resource.name != "store bell" else { return nil }
            let place = wait.place.isEmpty ? "" : " at \(wait.place)"
            return "'\(thread.name)' waits for \(wait.resource.label)\(place)"
        }
        let words = waiting.isEmpty ? "no thread waits for anything that is known" : waiting.joined(separator: "; ")
        let idleNs = MonotonicClock.nowNs() - sinceNs
        return HangRecord(
            .stall, cycle: [], sentence: "\(subject) for \(idleNs / 1_000_000) ms, and no closed circle: \(words)",
            afterNs: idleNs, stands: stands(snapshot, first: []), events: lastEvents())
    }

    /// Inspects another process that has reported nothing for too long. Reports a cycle of mutexes if there is one.
    /// Otherwise reports the threads that compute, or at most 12 threads with the futexes that they sleep on.
    package static func fromOutside(_ pid: Int32) -> HangRecord {
        if let cycle = WaitForGraph(KernelView.snapshot(of: pid)).cycles.first {
            return HangRecord(.deadlock, cycle: cycle.edges, sentence: cycle.sentence)
        }
        let busy = LivenessProbe.threads(of: pid)
        if !busy.isEmpty {
            let names = busy.map { "'\($0)'" }.joined(separator: ", ")
            return HangRecord(.slow, sentence: "not finished in time, and at work: \(names) compute")
        }
        let waits = KernelView.threads(of: pid).compactMap { thread in
            thread.futex.map { "'\(thread.name)' sleeps on the futex at 0x\(String($0, radix: 16))" }
        }
        let words = waits.isEmpty ? "no thread waits for a lock" : waits.prefix(12).joined(separator: "; ")
        return HangRecord(.stall, sentence: "nothing has moved, seen from outside: \(words)")
    }

    /// Report of this process, which was found hung: a cycle if there is one, else each thread's waits.
    package static func found(_ reason: String) -> HangRecord {
        let snapshot = WaitSnapshot.recorded().completed(by: KernelView.snapshot())
        if let cycle = WaitForGraph(snapshot).cycles.first {
            return deadlock(cycle, closedNs: MonotonicClock.nowNs(), in: snapshot)
        }
        return stall(snapshot, sinceNs: MonotonicClock.nowNs(), reason)
    }

    /// Lock orders that could deadlock in another run.
    package static func inversions() -> [HangRecord] {
        Tracing.inversions().map { HangRecord(.inversion, cycle: $0.classes, sentence: $0.sentence) }
    }

    /// Returns the threads of the cycle first, then other waiting threads; at most 16.
    private static func stands(_ snapshot: WaitSnapshot, first concerned: Set<Int32>) -> [HangRecord.Stand] {
        let waiting = snapshot.threads.filter { $0.wait != nil || concerned.contains($0.tid) }
        let ordered = waiting.filter { concerned.contains($0.tid) } + waiting.filter { !concerned.contains($0.tid) }
        return ordered.prefix(16).map { thread in
            HangRecord.Stand(
                thread: thread.name, tid: thread.tid, holds: thread.holds.map(words), waitsFor: thread.wait.map(words),
                stack: ThreadStack.frames(of: thread.tid))
        }
    }

    private static func words(_ stake: WaitSnapshot.Stake) -> String {
        stake.place.isEmpty ? stake.resource.label : "\(stake.resource.label) at \(stake.place)"
    }

    /// Waits, holds and hand-offs in the last events of each thread, as spans on one time line that starts with the
    /// earliest of these events.
    static func lastEvents() -> [TraceSpan] {
        let all = Tracing.lastEvents().filter { !$0.moments.isEmpty }
        let startNs = all.compactMap { $0.moments.first?.atNs }.min() ?? 0
        let nowNs = MonotonicClock.nowNs()
        return all.flatMap { thread -> [TraceSpan] in
            var spans: [TraceSpan] = []
            for (index, moment) in thread.moments.enumerated() {
                let ends: Set<TracedEvent> =
                    switch moment.kind {
                    case .willWait: [.acquired, .gaveUp]
                    case .acquired: [.released]
                    case .enqueued, .gaveUp, .released: []
                    }
                if ends.isEmpty, moment.kind != .enqueued { continue }
                let end = thread.moments[(index + 1)...].first {
                    $0.resource == moment.resource && ends.contains($0.kind)
                }
                let verb = moment.kind == .willWait ? "waits for" : moment.kind == .acquired ? "holds" : "hands to"
                let endNs = ends.isEmpty ? moment.atNs : end?.atNs ?? nowNs
                let place = moment.place.isEmpty ? "" : " (\(moment.place))"
                spans.append(
                    TraceSpan(
                        name: "\(verb) \(moment.resource.label)\(place)", thread: "\(thread.name) \(thread.tid)",
                        startNs: moment.atNs - startNs, lengthNs: endNs - moment.atNs, version: 0))
            }
            return spans
        }
    }
}
