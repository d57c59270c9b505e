// Tests of work in parts.
import StillingWellSync
import StillingWellTestThreads
import Testing
import TidegaugeRun

@Suite("A crew", .onThreads)
struct CrewTests {
    @Test("does every part once, and hands results out in order", arguments: [(0, 0), (1, 1), (7, 1), (40, 3)])
    func order(parts: Int, hands: Int) {
        let done = Guarded("parts done", [Int]())
        let crew = Crew(parts, hands: hands) { _ in
            { part in
                done.withLock { $0.append(part) }
                return part * part
            }
        }
        for part in 0..<parts { #expect(crew.result(part) == part * part) }
        crew.dismiss()
        #expect(done.withLock { $0 }.sorted() == Array(0..<parts))
    }

    @Test("begins no part once it is dismissed, and ends those that it has begun")
    func dismissed() {
        let gate = Guarded("gate", false)
        let opened = TracedCondition("gate", gate)
        let done = Guarded("parts done", [Int]())
        let crew = Crew(10, hands: 1) { _ in
            { part in
                if part == 1 { gate.wait(for: opened) { $0 } }
                done.withLock { $0.append(part) }
            }
        }
        crew.result(0)
        // Part 1 waits for the gate, if it has begun.
        gate.withLock {
            $0 = true
            opened.broadcast()
        }
        crew.dismiss()
        let parts = done.withLock { $0 }
        #expect(parts == Array(0..<parts.count))
    }
}
