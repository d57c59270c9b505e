import Testing

@testable import TidegaugeStatistics

@Suite("Order statistics")
struct OrderTests {
    @Test(
        "The median is the middle, or the mean of the two middle ones",
        arguments: [
            ([3.0], 3.0), ([1, 2], 1.5), ([5, 1, 3], 3), ([4, 1, 3, 2], 2.5), ([-1, -1, 7], -1), ([2, 2, 2, 9], 2),
        ] as [([Double], Double)])
    func medians(values: [Double], expected: Double) {
        #expect(median(values) == expected)
    }

    @Test("Nothing has no median, mean or deviation")
    func empty() {
        #expect(median([]) == nil)
        #expect(mean([]) == nil)
        #expect(medianAbsoluteDeviation([]) == nil)
    }

    @Test("Half of the samples have to be wild before the deviation moves")
    func deviationIsRobust() throws {
        let deviation = try #require(medianAbsoluteDeviation([1, 2, 3, 4, 1e12]))
        #expect(deviation == 1.4826)
    }

    @Test("Huge samples do not overflow")
    func huge() {
        #expect(median([1.7e308, 1.7e308]) == 1.7e308)
    }
}
