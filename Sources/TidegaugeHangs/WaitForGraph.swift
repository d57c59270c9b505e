// A wait-for graph. Pure: made from a snapshot, it finds the threads that can never continue and describes why.
//
// A waiting thread can continue once a holder of its resource can. Starting from threads that wait for nothing, all
// threads that can continue are removed; the rest is deadlocked. A resource with several holders (a pool) blocks a
// waiter only if all holders are stuck. A resource without a known holder counts as harmless: any thread may signal a
// condition.
import StillingWellSync

/// The edges of a snapshot: threads, the resources they wait for, and their holders.
public struct WaitForGraph: Sendable {
    private let snapshot: WaitSnapshot
    /// Threads that hold each resource.
    private var holders: [TracedResource: [Int]] = [:]

    public init(_ snapshot: WaitSnapshot) {
        self.snapshot = snapshot
        for (index, thread) in snapshot.threads.enumerated() {
            for hold in thread.holds {
                if holders[hold.resource]?.contains(index) != true { holders[hold.resource, default: []].append(index) }
            }
        }
        // A run loop or the main queue is served by its thread only, even while the thread runs no handler of it.
        let served = snapshot.threads.compactMap { $0.wait?.resource }.filter { $0.servedBy != 0 }
        for resource in Set(served) {
            guard let index = snapshot.threads.firstIndex(where: { $0.tid == resource.servedBy }) else { continue }
            if holders[resource]?.contains(index) != true { holders[resource, default: []].append(index) }
        }
    }

    /// Indices in the snapshot of the threads that can never continue.
    public var stuck: Set<Int> {
        var waiting = Set(snapshot.threads.indices.filter { snapshot.threads[$0].wait != nil })
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for index in waiting {
                let holders = holders[snapshot.threads[index].wait!.resource] ?? []
                if holders.isEmpty || holders.contains(where: { !waiting.contains($0) }) {
                    waiting.remove(index)
                    hasChanged = true
                }
            }
        }
        return waiting
    }

    /// Cycles among the threads that can never continue, each once.
    public var cycles: [WaitCycle] {
        let stuck = stuck
        var found: [WaitCycle] = []
        for start in stuck.sorted() {
            var path: [Int] = []
            var next = start
            while !path.contains(next) {
                path.append(next)
                // For a pool, another holder is preferred to the thread itself.
                let owners = holders[snapshot.threads[next].wait!.resource]!
                next = owners.first { stuck.contains($0) && $0 != next } ?? next
            }
            let circle = path[path.firstIndex(of: next)!...]
            let cycle = WaitCycle(links: circle.map(link), atNs: snapshot.atNs)
            if !found.contains(where: { $0.identity == cycle.identity }) { found.append(cycle) }
        }
        return found
    }

    private func link(_ index: Int) -> WaitCycle.Link {
        let thread = snapshot.threads[index]
        return WaitCycle.Link(tid: thread.tid, thread: thread.name, holds: thread.holds, waits: thread.wait!)
    }
}

/// Threads that wait for one another in a cycle.
public struct WaitCycle: Sendable {
    /// A thread, what it holds, and what it waits for, which the next thread holds.
    public struct Link: Sendable {
        public var tid: Int32
        public var thread: String
        public var holds: [WaitSnapshot.Stake]
        public var waits: WaitSnapshot.Stake
    }

    public var links: [Link]
    public var atNs: Int64

    /// Threads with their waits and when they began.
    public var identity: Set<String> { Set(links.map { "\($0.tid) \($0.waits.resource.id) \($0.waits.sinceNs)" }) }

    /// Links as `thread>resource`, beginning with the first by name.
    public var edges: [String] {
        let all = links.map { "\($0.thread)>\($0.waits.resource.label)" }
        let first = all.indices.min { all[$0] < all[$1] } ?? 0
        return Array(all[first...] + all[..<first])
    }

    /// Description with one clause per thread.
    public var sentence: String {
        let clauses = links.indices.map { index -> String in
            let link = links[index]
            let before = links[(index + links.count - 1) % links.count].waits.resource
            var text = "'\(link.thread)'"
            if let hold = link.holds.last(where: { $0.resource == before }) {
                let known = [duration(hold.sinceNs), hold.place.isEmpty ? "" : "taken at \(hold.place)"]
                    .filter { !$0.isEmpty }.joined(separator: ", ")
                let verb = before.kind == .queue ? "runs a block of" : before.kind == .thread ? "is" : "holds"
                text += " \(verb) \(before.label)\(known.isEmpty ? "" : " (\(known))") and"
            } else if before.servedBy == link.tid {
                text += " is the only one to serve \(before.label) and"
            }
            let waited = [
                duration(link.waits.sinceNs), link.waits.place.isEmpty ? "" : "at \(link.waits.place)",
            ].filter { !$0.isEmpty }.joined(separator: ", ")
            text += " waits for \(link.waits.resource.label)\(waited.isEmpty ? "" : " (\(waited))")"
            if links.count == 1 { text += ", which no other thread can signal" }
            return text
        }
        return clauses.joined(separator: "; ")
    }

    private func duration(_ sinceNs: Int64) -> String {
        guard sinceNs > 0, atNs >= sinceNs else { return "" }
        let ms = (atNs - sinceNs) / 1_000_000
        return ms < 1_000 ? "for \(ms) ms" : "for \(ms / 1_000).\(ms % 1_000 / 100) s"
    }
}

extension WaitSnapshot {
    /// Text for people: cycles first, then a line per thread that holds or waits for something.
    public var report: String {
        let lines = threads.compactMap { thread -> String? in
            if thread.holds.isEmpty, thread.wait == nil { return nil }
            var text = "thread \(thread.tid) \(thread.name):"
            if !thread.holds.isEmpty {
                text += " holds or runs " + thread.holds.map(Self.words).joined(separator: ", ")
            }
            if let wait = thread.wait { text += " waits for " + Self.words(wait) }
            return text
        }
        return (WaitForGraph(self).cycles.map(\.sentence) + lines).joined(separator: "\n")
    }

    private static func words(_ stake: Stake) -> String {
        stake.place.isEmpty ? stake.resource.label : "\(stake.resource.label) (\(stake.place))"
    }
}
