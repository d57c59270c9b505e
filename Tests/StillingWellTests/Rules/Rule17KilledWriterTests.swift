// Rule 17. A writer killed at any time loses only its uncommitted transaction, and others continue within a second.
// (After a crash in a write, Realm's other processes could wait for ever for a lock without an owner.)
//
// Each writer process acknowledges a commit over a pipe once `write` has returned. It is killed at a random time: after
// some acknowledged commits and a random delay, or a random delay after its start. It does nothing but commit, so many
// kills are inside a transaction. The next writer has the store open already: the test, then another process.
import CStillingWellPlatform
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellSync
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Rule 17: a writer killed at any instant loses only what it had not committed", .serialized, .onThreads)
struct Rule17KilledWriterTests {
    private struct Tally: Sendable {
        var kills = 0
        /// Kills while a lock was held: in a write block, a commit, or its flush.
        var holding = 0
        /// Kills after which the last commit existed without an acknowledgement.
        var unacknowledged = 0
        var commits = 0
        var slowestNs: Int64 = 0
    }

    @Test("every acknowledged commit exists, any other exists as a whole or not at all, and the next writer continues")
    func kills() throws {
        let killsEach = 51
        let lanes: [Durability] = [.full, .relaxed, .full, .relaxed, .memory]
        let tallies = Watched<[Int: Tally]>([:])
        let failures = Watched<[String]>([])
        let threads = lanes.enumerated().map { lane, durability in
            TracedThread("lane \(lane)") {
                do {
                    let tally = try kill(killsEach, durability, lane: UInt64(lane))
                    tallies.update { $0[lane] = tally }
                } catch {
                    failures.update { $0.append("\(durability), lane \(lane): \(error)") }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(failures.value == [])
        for durability in [Durability.full, .relaxed] {
            let own = tallies.value.filter { lanes[$0.key] == durability }.values
            func sum(_ path: KeyPath<Tally, Int>) -> Int { own.reduce(0) { $0 + $1[keyPath: path] } }
            let slowestMs = (own.map(\.slowestNs).max() ?? 0) / 1_000_000
            print(
                """
                .\(durability): \(sum(\.kills)) writers killed, \(sum(\.holding)) of them holding a lock, \
                \(sum(\.unacknowledged)) after a commit that was not acknowledged; \(sum(\.commits)) commits, the next \
                writer began within \(slowestMs) ms at most (TIDEGAUGE_SEED=\(SeededRandom.base))
                """)
            #expect(sum(\.kills) == 2 * killsEach)
            // Otherwise too few kills would be inside a transaction.
            #expect(sum(\.holding) * 5 >= sum(\.kills))
        }
    }

    private struct Violation: Error, CustomStringConvertible { let description: String }

    /// Kills writers of one store, one after the other.
    private func kill(_ count: Int, _ durability: Durability, lane: UInt64) throws -> Tally {
        let test = try TestStore(Batches.models, durability: durability)
        let store = test.store
        let observer = try BatchObserver(store)
        defer { observer.stop() }
        var random = SeededRandom(seed: SeededRandom.base &+ lane)
        var tally = Tally()
        var removed = 0
        var before = 0
        var writer = try FixtureProcess(test, "insert", "1000000")
        for round in 0..<count {
            func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws {
                if holds { return }
                throw Violation(description: "round \(round), TIDEGAUGE_SEED=\(SeededRandom.base): \(what())")
            }
            // The next writer is started before this one is killed.
            let next = try FixtureProcess(test, "insert", "1000000")
            try writer.go()
            if random.oneIn(2) { try writer.waitForLines(1 + random.below(40)) }
            let instantNs = monotonicNs() + Int64(random.below(durability == .full ? 4_000_000 : 400_000))
            while monotonicNs() < instantNs {}
            try writer.killNow()
            let acknowledged = writer.lines.last.flatMap { Int($0) } ?? before
            tally.kills += 1
            let page = store.core.storage.page
            if cp_mutex_owner(page.mutex) != 0 || cp_mutex_owner(page.flushMutex) != 0 { tally.holding += 1 }

            // A version that is visible now must reach the observer without another commit.
            let (version, visible) = try store.read { ($0.version, try Batches.value("batches", $0)) }
            try observer.seen.wait("version \(version)") { $0.version >= version || version == 0 }
            try expect(
                observer.seen.value.keys == Array(2 * removed..<2 * visible),
                "the observer has \(observer.seen.value), \(visible) batches are visible")

            let startNs = monotonicNs()
            var tookNs: Int64 = 0
            let count = try store.write { connection in
                tookNs = monotonicNs() - startNs
                let count = try Batches.value("batches", connection)
                if let violation = try Batches.violation(from: removed, connection) { try expect(false, violation) }
                for batch in removed..<count { try Batches.delete(batch, connection) }
                try Batches.insert(connection)
                return count
            }
            tally.slowestNs = max(tally.slowestNs, tookNs)
            try expect(tookNs < 1_000_000_000, "the next writer began after \(tookNs / 1_000_000) ms")
            try expect(
                count == acknowledged || count == acknowledged + 1,
                "\(acknowledged) commits were acknowledged, \(count) are there")
            try expect(observer.seen.value.violations.isEmpty, "\(observer.seen.value.violations)")
            if count > acknowledged { tally.unacknowledged += 1 }
            tally.commits += count - before
            removed = count
            before = count + 1
            writer = next
        }
        try writer.killNow()
        return tally
    }
}
