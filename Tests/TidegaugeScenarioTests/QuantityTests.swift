// Tests of numbers, durations and rates: what is read, and that written values can be read again.
import StillingWellSeededRandom
import Testing

@testable import TidegaugeSpec

@Suite struct QuantityTests {
    @Test(arguments: [
        ("0", 0), ("7", 7), ("-3", -3), ("10_000", 10_000), ("1_000_000", 1_000_000), ("1e6", 1_000_000),
        ("1.5e3", 1_500), ("2.0", 2), ("5E+2", 500), ("9223372036854775807", Int.max),
    ])
    func wholeNumbers(_ text: String, _ value: Int) throws { #expect(try Quantity.integer(text) == value) }

    @Test(arguments: [
        "", " 1", "1 ", "+1", "1.5", "1e-1", "1e400", "010", "00", "0x10", "1__0", "_1", "1_", "1,000", "ten", "1.",
        ".5",
        "1e", "nan", ".inf", "-.inf", "infinity", "9223372036854775808", "１", "²", "--1", "true",
    ])
    func notWholeNumbers(_ text: String) { #expect(throws: ValueFault.self) { try Quantity.integer(text) } }

    @Test(
        arguments: [
            ("1ns", 1), ("100us", 100_000), ("100µs", 100_000), ("100μs", 100_000), ("1.5ms", 1_500_000),
            ("5s", 5_000_000_000), ("2min", 120_000_000_000), ("2h", 7_200_000_000_000),
            ("0.5h", 1_800_000_000_000), ("1_000ms", 1_000_000_000), ("1e3us", 1_000_000),
            ("0s", 0), ("-1s", -1_000_000_000), ("0.1s", 100_000_000),
        ] as [(String, Int64)])
    func durations(_ text: String, _ nanoseconds: Int64) throws {
        #expect(try Quantity.durationNs(text) == nanoseconds)
    }

    @Test(arguments: [
        "5", "5 s", "5sec", "5S", "s", "", "0.5ns", "1e300s", "5hours", "5H", "5s ", "5ss", ".inf", "inf", "1s2ms",
    ])
    func notDurations(_ text: String) { #expect(throws: ValueFault.self) { try Quantity.durationNs(text) } }

    @Test(arguments: [("200/s", 200), ("10_000/s", 10_000), ("0.5/s", 0.5), ("1e3/s", 1_000)])
    func rates(_ text: String, _ hertz: Double) throws { #expect(try Quantity.rateHz(text) == hertz) }

    @Test(arguments: ["200", "200/min", "200 /s", "200Hz", "/s", "", "nan/s", "200/s/s"])
    func notRates(_ text: String) { #expect(throws: ValueFault.self) { try Quantity.rateHz(text) } }

    @Test func aMissingUnitIsSpeltOut() {
        #expect(throws: ValueFault("needs a unit: 200/s")) { try Quantity.rateHz("200") }
        #expect(throws: ValueFault("has the unknown unit 'sec' (did you mean '1s'?)")) {
            try Quantity.durationNs("1 sec")
        }
        #expect(throws: ValueFault("has the unknown unit 'hours' (did you mean '2h'?)")) {
            try Quantity.durationNs("2hours")
        }
        #expect(Quantity.text(durationNs: 7_200_000_000_000) == "2h" && Quantity.text(durationNs: 0) == "0s")
    }

    @Test func canonicalTextReadsBackAsTheSameValue() throws {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<1_000 {
            let nanoseconds =
                Int64.random(in: 0...(1 << 50), using: &random) / [1, 1_000, 1_000_000].randomElement(using: &random)!
            let rounded = nanoseconds - nanoseconds % [1, 1_000, 1_000_000].randomElement(using: &random)!
            #expect(try Quantity.durationNs(Quantity.text(durationNs: rounded)) == rounded, "seed \(seed)")
            let rate = Double.random(in: 0.001...1e7, using: &random)
            #expect(try Quantity.rateHz(Quantity.text(rateHz: rate)) == rate, "seed \(seed)")
            #expect(try Quantity.number(Quantity.text(rate.rounded())) == rate.rounded(), "seed \(seed)")
        }
    }

    @Test func canonicalTextIsTheShortestOfItsUnits() {
        #expect(Quantity.text(durationNs: 60_000_000_000) == "60s")
        #expect(Quantity.text(durationNs: 1_500_000_000) == "1500ms")
        #expect(Quantity.text(durationNs: 100_000) == "100us")
        #expect(Quantity.text(durationNs: 1_001) == "1001ns")
        #expect(Quantity.text(durationNs: 0) == "0s")
        #expect(Quantity.text(rateHz: 1_000) == "1000/s")
        #expect(Quantity.text(0.5) == "0.5")
    }
}

extension ValueFault: Equatable {
    public static func == (a: ValueFault, b: ValueFault) -> Bool { a.message == b.message }
}
