// The orders in which lock classes are taken. Two classes taken in both orders can deadlock, even if nothing hung yet.
import StillingWellSync

/// An observed pair: `taken` was requested while `held` was held.
public struct LockOrderWitness: Sendable {
    public var thread: String
    public var held: String
    public var heldAt: SourcePlace
    public var taken: String
    public var takenAt: SourcePlace
}

/// Lock classes that were taken in circular order. A warning: a hang takes several threads at the wrong time.
public struct LockInversion: Sendable {
    /// Observed pairs. The lock taken in each is held in the next; that of the last is held in the first.
    public var witnesses: [LockOrderWitness]

    /// Lock classes, as a cycle.
    public var classes: [String] { witnesses.map(\.held) }

    public var sentence: String {
        let steps = witnesses.map {
            "'\($0.thread)' held \($0.held) (taken at \($0.heldAt)) when it took \($0.taken) (at \($0.takenAt))"
        }
        return "lock order: " + steps.joined(separator: "; ")
    }
}

final class LockOrder: Sendable {
    static let shared = LockOrder()

    private struct Pair: Hashable {
        var held: String
        var taken: String
    }

    private let edges = PlainMutex<[Pair: LockOrderWitness]>([:])

    func add(_ held: [ThreadTrace.Entry], _ resource: TracedResource, _ place: SourcePlace) {
        // Conditions and signals are not locks.
        guard resource.kind != .condition, resource.kind != .signal, !held.isEmpty else { return }
        edges.with { edges in
            // Instances with one label are of the same class.
            for entry in held where entry.resource.label != resource.label && entry.resource.kind != .thread {
                let pair = Pair(held: entry.resource.label, taken: resource.label)
                if edges[pair] != nil { continue }
                edges[pair] = LockOrderWitness(
                    thread: ThreadName.current, held: pair.held, heldAt: entry.place, taken: pair.taken,
                    takenAt: place)
            }
        }
    }

    func forget() { edges.with { $0 = [:] } }

    /// Returns a shortest cycle through each class that is in one, without repetitions, the shortest first.
    func inversions() -> [LockInversion] {
        let edges = edges.with { $0 }
        var next: [String: [String]] = [:]
        for pair in edges.keys { next[pair.held, default: []].append(pair.taken) }
        for key in next.keys { next[key]!.sort() }
        var found: [[String]] = []
        for start in next.keys.sorted() {
            guard let path = Self.shortestCircle(from: start, next) else { continue }
            if !found.contains(where: { Set($0) == Set(path) }) { found.append(path) }
        }
        return found.sorted { $0.count < $1.count }.map { path in
            LockInversion(
                witnesses: path.indices.map { edges[Pair(held: path[$0], taken: path[($0 + 1) % path.count])]! })
        }
    }

    private static func shortestCircle(from start: String, _ next: [String: [String]]) -> [String]? {
        var before: [String: String] = [:]
        var frontier = [start]
        while !frontier.isEmpty {
            var further: [String] = []
            for node in frontier {
                for other in next[node] ?? [] {
                    if other == start {
                        var path = [node]
                        while let previous = before[path[0]] { path.insert(previous, at: 0) }
                        return path
                    }
                    if before[other] == nil {
                        before[other] = node
                        further.append(other)
                    }
                }
            }
            frontier = further
        }
        return nil
    }
}

extension TracedResource {
    /// Label in reports and scenario files: the name, for queues, run loops and threads with the kind in front.
    public var label: String {
        switch kind {
        case .mutex, .fileLock, .pool, .signal, .condition: name
        case .queue: name.hasPrefix("queue ") ? name : "queue \(name)"
        case .runLoop: name.hasPrefix("run loop ") ? name : "run loop \(name)"
        case .thread: name.hasPrefix("thread ") ? name : "thread \(name)"
        }
    }
}
