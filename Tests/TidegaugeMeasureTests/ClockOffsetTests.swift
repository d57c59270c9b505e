// Tests of the bounds of a clock's offset, with simulated clocks that drift and connections with random delays.
import StillingWellSeededRandom
import Testing

@testable import TidegaugeMeasure

@Suite struct ClockOffsetTests {
    /// Another clock, with an offset at time 0 and a rate of its own.
    private struct OtherClock {
        var aheadNs: Int64
        var fasterPPM: Double

        func offsetNs(_ atNs: Int64) -> Int64 { aheadNs + Int64((Double(atNs) * fasterPPM / 1e6).rounded()) }
        func shown(_ atNs: Int64) -> Int64 { atNs + offsetNs(atNs) }
    }

    /// Makes an exchange that begins at `atNs` of this clock.
    private func exchange(
        _ clock: OtherClock, atNs: Int64, there: Int64, staying: Int64 = 1_000, back: Int64
    ) -> ClockExchange {
        let arrived = atNs + there
        return ClockExchange(
            sentNs: atNs, arrivedNs: clock.shown(arrived), leftNs: clock.shown(arrived + staying),
            returnedNs: arrived + staying + back)
    }

    private func exchanges(_ clock: OtherClock, _ random: inout SeededRandom) -> [ClockExchange] {
        var atNs: Int64 = 0
        let asymmetric = random.below(2) == 0
        return (0..<60).map { _ in
            atNs += Int64(random.below(200_000_000))
            let there = Int64(20_000 + random.below(300_000))
            let back = Int64(20_000 + random.below(300_000)) + (asymmetric ? 5_000_000 : 0)
            let made = exchange(clock, atNs: atNs, there: there, back: back)
            atNs = made.returnedNs
            return made
        }
    }

    @Test(arguments: seeds(200))
    func theTrueDifferenceIsWithin(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let clock = OtherClock(
            aheadNs: Int64(random.below(2_000_000_000_000)) - 1_000_000_000_000,
            fasterPPM: [0, 50, -50, 99][random.below(4)])
        let made = exchanges(clock, &random)
        var offset = ClockOffset()
        for one in made { try offset.add(one) }
        let endNs = made.last!.returnedNs + 1_000_000_000
        for _ in 0..<200 {
            let atNs = Int64(random.below(Int(endNs)))
            let bounds = try #require(offset.bounds(atNs: atNs))
            #expect(bounds.contains(clock.offsetNs(atNs)), "seed \(seed), at \(atNs)")
            let (local, halfWidthNs) = try #require(offset.local(clock.shown(atNs)))
            #expect(abs(local - atNs) <= halfWidthNs, "seed \(seed), at \(atNs): \(local) ± \(halfWidthNs)")
            // An exchange takes less than 6 ms, and the drift of a second is 0.1 ms at most.
            #expect(halfWidthNs < 10_000_000, "seed \(seed)")
        }
    }

    /// Every exchange bounds the offset at every time, by its own bounds plus the drift since its farther end.
    @Test(arguments: seeds(50))
    func boundsAreThoseOfAllExchangesTogether(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let clock = OtherClock(aheadNs: 77, fasterPPM: 30)
        let made = exchanges(clock, &random)
        var offset = ClockOffset()
        for one in made { try offset.add(one) }
        for _ in 0..<100 {
            let atNs = Int64(random.below(Int(made.last!.returnedNs)))
            func drift(_ one: ClockExchange) -> Double {
                Double(max(abs(atNs - one.sentNs), abs(atNs - one.returnedNs))) * Double(ClockOffset.mostDriftPPM) / 1e6
            }
            let lower = made.map { Double($0.lowerNs) - drift($0) }.max()!
            let upper = made.map { Double($0.upperNs) + drift($0) }.min()!
            let bounds = try #require(offset.bounds(atNs: atNs))
            // Each step may round away from the other bound by up to a nanosecond.
            let most = Double(made.count + 2)
            #expect(Double(bounds.lowerBound) <= lower + 1 && Double(bounds.lowerBound) >= lower - most, "seed \(seed)")
            #expect(Double(bounds.upperBound) >= upper - 1 && Double(bounds.upperBound) <= upper + most, "seed \(seed)")
        }
    }

    @Test func oneExchangeBoundsByItsTwoWays() throws {
        var offset = ClockOffset(mostDriftPPM: 0)
        #expect(offset.bounds(atNs: 5) == nil && offset.local(5) == nil && offset.remote(5) == nil)
        // The other clock is 1,000 ns ahead. Sending takes 10 ns there and 30 ns back.
        try offset.add(ClockExchange(sentNs: 0, arrivedNs: 1_010, leftNs: 1_015, returnedNs: 45))
        #expect(offset.bounds(atNs: 99_999) == 970...1_010)
        #expect(offset.remote(100) == 1_090)
        let local = try #require(offset.local(2_000))
        #expect(local.ns == 1_010 && local.halfWidthNs == 21)
    }

    @Test func aClockThatDriftsTooFastContradictsItself() throws {
        let clock = OtherClock(aheadNs: 0, fasterPPM: 300)
        var offset = ClockOffset()
        try offset.add(exchange(clock, atNs: 0, there: 10_000, back: 10_000))
        #expect(throws: ClockContradiction.self) {
            try offset.add(exchange(clock, atNs: 10_000_000_000, there: 10_000, back: 10_000))
        }
        // The earlier knowledge is kept.
        #expect(offset.exchanges == 1 && offset.bounds(atNs: 0) != nil)
    }

    @Test func aClockThatWasSetContradictsItself() throws {
        var clock = OtherClock(aheadNs: 5, fasterPPM: 0)
        var offset = ClockOffset()
        try offset.add(exchange(clock, atNs: 0, there: 10_000, back: 10_000))
        clock.aheadNs = 1_000_000
        let error = #expect(throws: ClockContradiction.self) {
            try offset.add(exchange(clock, atNs: 1_000_000, there: 10_000, back: 10_000))
        }
        #expect(error?.description.contains("steady the clocks") == true)
    }

    @Test func anAnswerThatLeftBeforeItCameIsNone() {
        var offset = ClockOffset()
        #expect(throws: ClockContradiction.self) {
            try offset.add(ClockExchange(sentNs: 0, arrivedNs: 50, leftNs: 40, returnedNs: 100))
        }
    }

    /// A narrow exchange also narrows the bounds before and after it.
    @Test func aNarrowExchangeNarrowsItsNeighbours() throws {
        let clock = OtherClock(aheadNs: 123, fasterPPM: 0)
        var offset = ClockOffset()
        for (second, way) in [(0, 900_000), (1, 10_000), (2, 900_000)] as [(Int64, Int64)] {
            try offset.add(exchange(clock, atNs: second * 1_000_000_000, there: way, staying: 0, back: way))
        }
        for second: Int64 in [0, 2] {
            let bounds = try #require(offset.bounds(atNs: second * 1_000_000_000))
            // 10 µs, and 100 µs of drift in the second between.
            #expect(bounds.upperBound - bounds.lowerBound < 2 * 112_000)
        }
    }
}
