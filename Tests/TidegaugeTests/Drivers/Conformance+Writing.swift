// Checks of writers: many at once, one that fails, and whole trials with the oracle.
import Foundation
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure

@testable import TidegaugeSpec

extension Conformance {
    /// Four writers and two delivery contexts. Versions must be unique, and observers of the written rows must reach
    /// the last one.
    func manyThreads(_ place: ObserversSpec.Deliver) throws -> [String] {
        let commits = 25
        return try withStore { store, loaded in
            try withSite(place) { first in
                try withSite(place) { second in
                    var rows = loaded
                    let listeners = try [first, second].flatMap { site in
                        try [Self.upper, Self.all, Query(group: 1)].map { try watch($0, site, store) }
                    }
                    let outcomes = (0..<4).map { _ in Outcome() }
                    let threads = outcomes.indices.map { number in
                        TracedThread("writer-\(number)") { outcomes[number].write(number, commits, store) }
                    }
                    for _ in 0..<10 { try watch(Self.upper, second, store).cancel() }
                    for thread in threads { thread.join() }
                    for number in outcomes.indices {
                        for step in 0..<commits { rows.apply(Outcome.change(number, step)) }
                    }
                    var complaints = outcomes.flatMap(\.complaints)
                    let versions = outcomes.flatMap(\.versions)
                    if Set(versions).count != versions.count { complaints.append("a version was given twice") }
                    let last = versions.max() ?? .max
                    for listener in listeners where listener.query != Query(group: 1) {
                        if !listener.waitFor(last, untilNs: deadlineNs) {
                            complaints.append("the end was not delivered")
                        }
                    }
                    return try complaints
                        + listeners.flatMap { $0.complaints + (try differences($0, store, rows)) }
                }
            }
        }
    }

    /// Results of one writing thread, which owns them until it is joined.
    private final class Outcome: @unchecked Sendable {
        var versions: [Int64] = []
        var complaints: [String] = []

        func write(_ number: Int, _ commits: Int, _ store: any DrivenStore) {
            do {
                let writer = try store.makeWriter()
                for step in 0..<commits {
                    guard let version = try writer.commit([Self.change(number, step)]) else {
                        return complaints.append("a commit has no version")
                    }
                    if let last = versions.last, version <= last { complaints.append("\(version) came after \(last)") }
                    versions.append(version)
                }
            } catch {
                complaints.append("\(error)")
            }
        }

        static func change(_ number: Int, _ step: Int) -> Change {
            let serial = Int64(number * 1_000 + step)
            return Change(.insert, Item(key: 10_000 + serial, group: 0, score: 20_000 + serial, stamp: serial + 1))
        }
    }

    /// A commit that changes a missing row is refused as a whole, and the store remains usable.
    func aCommitThatFails(_ place: ObserversSpec.Deliver) throws -> [String] {
        guard capabilities.hasContents else { return [] }
        return try withStore { store, loaded in
            try withSite(place) { site in
                var rows = loaded
                let listener = try watch(Self.all, site, store)
                let writer = try store.makeWriter()
                let good = Change(.touch, Item(key: 3, group: 0, score: 0, stamp: 7))
                let before = try writer.commit([]) ?? .max
                var complaints: [String] = []
                let absent = Change(.touch, Item(key: 77_777, group: 0, score: 0, stamp: 8))
                let other = Change(.touch, Item(key: 4, group: 0, score: 0, stamp: 8))
                if (try? writer.commit([other, absent])) != nil {
                    complaints.append("touched a row that is not there")
                }
                rows.apply(good)
                let version = try writer.commit([good]) ?? .min
                if version <= before { complaints.append("version \(version) came after \(before)") }
                if !listener.waitFor(version, untilNs: deadlineNs) { complaints.append("not called afterwards") }
                return complaints + listener.complaints + (try differences(listener, store, rows))
            }
        }
    }

    /// Runs whole trials of several kinds.
    func oracle(_ place: ObserversSpec.Deliver) throws -> [String] {
        var paced = TrialSpec.tiny(driver: driver.name)
        paced.durability = capabilities.durabilities.contains(.memory) ? "memory" : "relaxed"
        paced.observers.deliver = place
        paced.observers.threads = 2
        paced.hangTimeoutNs = patienceNs
        var touching = paced
        touching.writers.changes = ["touch": 1]
        touching.observers.queries = .overlapping
        touching.observers.sort = .scoreAscending
        var stepping = paced
        stepping.dataset.items = 400
        stepping.observers.queries = .filters
        stepping.observers.count = 5
        stepping.writers = WritersSpec(
            threads: 1, load: .lockstep, rateHz: 0, arrivals: .uniform, burst: 1, changes: ["update-score": 1],
            rowsPerCommit: 1, keys: .matching)
        var specs = [paced, touching, stepping]
        if capabilities.can(.wholeRows) {
            (paced.dataset.textCharacters, paced.dataset.payloadBytes, paced.dataset.tables) = (30, 300, 3)
            specs.append(paced)
        }
        return try specs.flatMap { spec -> [String] in
            let result = try runTrial(spec, on: driver)
            var complaints = result.violations
            // A completed trial may have notes too, such as writers that were late on a busy machine.
            if result.fate != .completed { complaints += result.notes + ["ended with \(result.fate)"] }
            if result.value(.missedFinal) != 0 { complaints.append("missed_final") }
            return complaints
        }
    }
}
