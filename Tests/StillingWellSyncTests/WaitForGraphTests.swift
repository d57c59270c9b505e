// Tests of the wait-for graph with snapshots made by hand.
import StillingWellBasis
import Testing

@testable import StillingWellSync
@testable import TidegaugeHangs

@Suite("Wait-for graph")
struct WaitForGraphTests {
    private typealias Thread = WaitSnapshot.Thread

    private let a = TracedResource(.mutex, "a")
    private let b = TracedResource(.mutex, "b")
    private let c = TracedResource(.mutex, "c")

    private func thread(_ tid: Int32, _ name: String, holds: [TracedResource] = [], waits: TracedResource? = nil)
        -> Thread
    {
        Thread(tid: tid, name: name, holds: holds.map { .init($0) }, wait: waits.map { .init($0) })
    }

    private func cycles(_ threads: [Thread]) -> [[String]] {
        WaitForGraph(WaitSnapshot(threads: threads)).cycles.map(\.edges)
    }

    @Test func threeThreadsInACircle() {
        let found = cycles([
            thread(1, "x", holds: [a], waits: b), thread(2, "y", holds: [b], waits: c),
            thread(3, "z", holds: [c], waits: a),
        ])
        #expect(found == [["x>b", "y>c", "z>a"]])
    }

    @Test func aChainWithAnEndIsNoCircle() {
        #expect(cycles([thread(1, "x", holds: [a], waits: b), thread(2, "y", holds: [b])]).isEmpty)
    }

    @Test func whoWaitsForACircleIsNotInIt() {
        let found = cycles([
            thread(1, "x", holds: [a], waits: b), thread(2, "y", holds: [b], waits: a), thread(3, "z", waits: a),
        ])
        #expect(found == [["x>b", "y>a"]])
    }

    @Test func twoCirclesAreTwo() {
        let d = TracedResource(.mutex, "d")
        let found = cycles([
            thread(1, "x", holds: [a], waits: b), thread(2, "y", holds: [b], waits: a),
            thread(3, "z", holds: [c], waits: d), thread(4, "w", holds: [d], waits: c),
        ])
        #expect(Set(found) == [["x>b", "y>a"], ["w>c", "z>d"]])
    }

    @Test func aPoolIsStuckOnlyIfAllItsHoldersAre() {
        let pool = TracedResource(.pool, "readers")
        let free = [thread(1, "x", holds: [pool], waits: pool), thread(2, "y", holds: [pool])]
        #expect(cycles(free).isEmpty)
        let stuck = [thread(1, "x", holds: [pool], waits: pool), thread(2, "y", holds: [pool], waits: pool)]
        #expect(cycles(stuck) == [["x>readers", "y>readers"]])
    }

    @Test func whatNobodyHoldsIsNoCircle() {
        let condition = TracedResource(.condition, "news")
        #expect(cycles([thread(1, "x", holds: [a], waits: condition), thread(2, "y", waits: a)]).isEmpty)
    }

    @Test func aRunLoopIsHeldByItsThreadEvenWhileItWaitsElsewhere() {
        let loop = TracedResource(.runLoop, "main", servedBy: 7)
        let found = cycles([thread(7, "main", waits: a), thread(2, "y", holds: [a], waits: loop)])
        #expect(found == [["main>a", "y>run loop main"]])
    }

    @Test func theSentenceNamesPlacesAndTimes() {
        let snapshot = WaitSnapshot(
            threads: [
                Thread(
                    tid: 1, name: "writer", holds: [.init(a, at: "Store.swift:10", sinceNs: 1_000_000_000)],
                    wait: .init(b, at: "Model.swift:5", sinceNs: 1_800_000_000)),
                Thread(
                    tid: 2, name: "main", holds: [.init(b, at: "View.swift:3", sinceNs: 900_000_000)],
                    wait: .init(a, at: "View.swift:4", sinceNs: 1_500_000_000)),
            ], atNs: 2_200_000_000)
        #expect(
            WaitForGraph(snapshot).cycles.first?.sentence
                == "'writer' holds a (for 1.2 s, taken at Store.swift:10) and waits for b (for 400 ms, at Model.swift:5); "
                + "'main' holds b (for 1.3 s, taken at View.swift:3) and waits for a (for 700 ms, at View.swift:4)")
    }

    /// Compares with brute force: a thread is stuck if no order in which threads finish releases it.
    @Test func stuckIsWhatNoOrderOfFinishingFrees() {
        for seed in 0..<400 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let resources = (0..<5).map { TracedResource(.mutex, "m\($0)") }
            var free = resources
            var threads = (0..<5).map { number -> Thread in
                let count = random.below(3)
                let held = (0..<count).compactMap { _ in free.isEmpty ? nil : free.remove(at: random.below(free.count))
                }
                return thread(Int32(number + 1), "t\(number)", holds: held)
            }
            for index in threads.indices where random.below(4) > 0 {
                threads[index].wait = .init(resources[random.below(5)])
            }
            var alive = Set(threads.indices)
            while let next = alive.sorted().first(where: { index in
                guard let wait = threads[index].wait?.resource else { return true }
                let owner = threads.firstIndex { $0.holds.contains { $0.resource == wait } }
                return owner.map { !alive.contains($0) } ?? true
            }) {
                alive.remove(next)
            }
            #expect(WaitForGraph(WaitSnapshot(threads: threads)).stuck == alive, "seed \(seed)")
        }
    }
}
