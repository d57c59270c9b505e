// Tests of the plan by which a comparison is resumed: it is written and read again.
import Foundation
import Testing
import TidegaugeSpec

@testable import TidegaugeCompare

@Suite("The plan of a comparison")
struct PlanTests {
    private func written(_ plan: ComparisonPlan) throws -> String {
        String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)
    }

    private func read(_ text: String) throws -> ComparisonPlan {
        try JSONDecoder().decode(ComparisonPlan.self, from: Data(text.utf8))
    }

    @Test("a plan keeps the artificial costs of both sides")
    func flaws() throws {
        var plan = World([Truth()], seed: 1).plan()
        (plan.base.shim, plan.head.shim) = (Shim("none"), Shim("tail=100:5ms"))
        let again = try read(written(plan))
        #expect(again == plan && again.base.shim == Shim("none") && again.head.shim?.tailEvery == 100)
    }

    @Test("is read from a version without artificial costs")
    func older() throws {
        let plan = World([Truth()], seed: 1).plan()
        let text = try written(plan)
        #expect(!text.contains("shim"))
        #expect(try read(text) == plan)
    }
}
