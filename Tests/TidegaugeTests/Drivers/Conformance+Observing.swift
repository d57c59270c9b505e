// Checks of deliveries.
import StillingWellSync
import TidegaugeDriver
import TidegaugeSpec

@testable import TidegaugeTrialRunner

extension Conformance {
    func firstIsInitial(_ place: ObserversSpec.Deliver) throws -> [String] {
        try withStore { store, rows in
            try withSite(place) { site in
                let queries = [
                    Self.upper, Self.all, Query(group: 1), Query(keys: 10..<20, order: .scoreDescending),
                    Query(scores: 1..<2),
                ]
                let listeners = try queries.map { try watch($0, site, store) }
                // A second observer of the same query is called too.
                let again = try watch(Self.upper, site, store)
                return try (listeners + [again]).flatMap { $0.complaints + (try differences($0, store, rows)) }
            }
        }
    }

    func everyCommitIsCovered(_ place: ObserversSpec.Deliver) throws -> [String] {
        try withStore { store, loaded in
            try withSite(place) { site in
                var rows = loaded
                let listeners = try [Self.upper, Self.all].map { try watch($0, site, store) }
                let writer = try store.makeWriter()
                var complaints: [String] = []
                var last: Int64 = .min
                for step in 0..<40 {
                    let change = Self.change(step)
                    rows.apply(change)
                    var locks = 0
                    guard let version = try writer.commit([change], locked: { locks += 1 }) else {
                        return ["commit \(step) has no version"]
                    }
                    if locks != 1 { complaints.append("commit \(step) said \(locks) times that it holds the lock") }
                    if version <= last { complaints.append("version \(version) came after \(last)") }
                    last = version
                    for listener in listeners where !listener.waitFor(version, untilNs: deadlineNs) {
                        return complaints + listener.complaints + ["commit \(step) was never delivered"]
                    }
                }
                return try complaints
                    + listeners.flatMap { $0.complaints + (try differences($0, store, rows)) }
            }
        }
    }

    /// Returns a change for each step. Within the upper half rows are inserted, moved, modified and deleted.
    private static func change(_ step: Int) -> Change {
        let stamp = Int64(step + 1)
        let round = Int64(step / 5)
        switch step % 5 {
        case 0: return Change(.insert, Item(key: 1_000 + round, group: 0, score: 7_001 + round, stamp: stamp))
        case 1: return Change(.updateScore, Item(key: 1_000 + round, group: 0, score: 3_001 + round, stamp: stamp))
        case 2: return Change(.touch, Item(key: 1_000 + round, group: 0, score: 0, stamp: stamp))
        case 3: return Change(.updateScore, Item(key: 40 + round, group: 0, score: 11 + round, stamp: stamp))
        default: return Change(.delete, Item(key: 1_000 + round, group: 0, score: 0, stamp: stamp))
        }
    }

    func besideAWriter(_ place: ObserversSpec.Deliver) throws -> [String] {
        guard capabilities.readsBesideWriter else { return [] }
        return try withStore { store, rows in
            try withSite(place) { site in
                let holder = try LockHolder(store, patienceNs)
                let listener = try watch(Self.upper, site, store)
                let complaints = listener.complaints + (try differences(listener, store, rows))
                try holder.release()
                return complaints
            }
        }
    }

    func callsOnTheSite(_ place: ObserversSpec.Deliver) throws -> [String] {
        guard capabilities.can(.callableOnSite) else { return [] }
        return try withStore { store, loaded in
            let callable = try store.conforming(to: (any CallableOnSite).self)
            return try withSite(place) { site in
                var rows = loaded
                let listener = try watch(Self.upper, site, store)
                var complaints: [String] = []
                for call in [SiteCall.beginWrite, .refresh] {
                    let grants = try site.run(timeoutNs: patienceNs) {
                        var grants = 0
                        try callable.call(call, at: site.deliverySite) { grants += 1 }
                        return grants
                    }
                    if grants != 1 { complaints.append("\(call) was granted \(grants) times") }
                }
                // Nothing was changed, and the lock was released.
                let change = Self.change(0)
                rows.apply(change)
                let version = try store.makeWriter().commit([change])
                if !listener.waitFor(version ?? .max, untilNs: deadlineNs) {
                    complaints.append("not called afterwards")
                }
                return complaints + listener.complaints + (try differences(listener, store, rows))
            }
        }
    }

    /// Cancels from another thread and in the callback itself. A third observer remains.
    func cancel(_ place: ObserversSpec.Deliver) throws -> [String] {
        try withStore { store, _ in
            try withSite(place) { site in
                let staying = try watch(Self.upper, site, store)
                let going = try watch(Self.upper, site, store)
                let leaving = try Listener.subscribe(Self.upper, site, store, patienceNs) { listener in
                    if listener.count >= 2 { listener.cancel() }
                }
                let writer = try store.makeWriter()
                going.cancel()
                let before = going.count
                for step in 0..<10 {
                    let version = try writer.commit([Self.change(step)])
                    if !staying.waitFor(version ?? .max, untilNs: deadlineNs) { return ["commit \(step) was lost"] }
                }
                // The delivery context has processed every delivery of the last commit.
                try site.run(timeoutNs: patienceNs) {}
                var complaints = staying.complaints
                if going.count > before { complaints.append("called after it was cancelled") }
                if leaving.count > 2 { complaints.append("called after it cancelled itself in a callback") }
                going.cancel()
                return complaints
            }
        }
    }

    func close(_ place: ObserversSpec.Deliver) throws -> [String] {
        try withSite(place) { site in
            var listeners: [Listener] = []
            var before: [Int] = []
            let complaints = try withStore { store, _ in
                listeners = try [Self.upper, Self.all].map { try watch($0, site, store) }
                let writer = try store.makeWriter()
                // These deliveries may be pending when the store closes.
                for step in 0..<20 { _ = try writer.commit([Self.change(step)]) }
                try store.close()
                before = listeners.map(\.count)
                return []
            }
            try site.run(timeoutNs: patienceNs) {}
            let late = zip(listeners, before).contains { $0.count > $1 + 1 }
            for listener in listeners { listener.cancel() }
            return complaints + (late ? ["called after the store was closed"] : [])
        }
    }
}
