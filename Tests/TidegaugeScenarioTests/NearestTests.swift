// Tests of the suggestion of the word that was probably meant.
import StillingWellBasis
import Testing

@testable import TidegaugeScenario

@Suite struct NearestTests {
    @Test(arguments: [
        ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abcd", 1), ("abc", "ab", 1), ("abc", "xbc", 1),
        ("", "abc", 3), ("observers", "obsrevers", 1), ("kitten", "sitting", 3),
    ])
    func distances(_ a: String, _ b: String, _ distance: Int) {
        #expect(Spelling.distance(Array(a), Array(b)) == distance)
        #expect(Spelling.distance(Array(b), Array(a)) == distance)
    }

    @Test func aSlipIsCorrected() {
        let known = ["observers", "observers.count", "writers.rate", "gate"]
        #expect(Nearest.nearest(to: "obsrevers", among: known) == "observers")
        #expect(Nearest.nearest(to: "Observers", among: known) == "observers")
        #expect(Nearest.nearest(to: "rate", among: known) == "writers.rate")
        #expect(Nearest.nearest(to: "colour", among: known) == nil)
    }

    @Test func aPartOfNamesIsTakenForThem() {
        let known = ["noop", "stillingwell", "grdb-pool", "grdb-memory"]
        #expect(Nearest.hints(for: "grdb", among: known) == "(did you mean 'grdb-pool' or 'grdb-memory'?)")
        #expect(Nearest.hints(for: "noo", among: known) == "(did you mean 'noop'?)")
        #expect(Nearest.hints(for: "stilwell", among: known) == "(did you mean 'stillingwell'?)")
        #expect(Nearest.hints(for: "null", among: known) == "(it is called 'noop' now)")
        #expect(Nearest.hint(for: "livestore", among: ["stillingwell"]) == "(it is called 'stillingwell' now)")
        #expect(Nearest.hints(for: "x", among: known) == Nearest.hint(for: "x", among: known))
    }

    @Test func aPartOfTheWordIsTakenForThatOfNames() {
        let known = ["writer-killed", "many-writers", "lock-order", "notifying-writers", "unwatched-writers"]
        #expect(
            Nearest.several(to: "two-writer", among: known)
                == " (did you mean 'many-writers', 'notifying-writers' or 'unwatched-writers'?)")
        #expect(Nearest.several(to: "two-locks", among: known) == " (did you mean 'lock-order'?)")
        #expect(Nearest.several(to: "two-lo", among: known).isEmpty)
    }

    @Test func whereNothingIsNearAllAreNamed() {
        #expect(Nearest.hint(for: "colour", among: ["count", "match"]) == "(known here: count, match)")
        #expect(Nearest.hint(for: "colour", among: []) == "(none is known here)")
    }
}
