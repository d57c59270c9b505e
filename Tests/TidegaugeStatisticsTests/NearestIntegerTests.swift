import Testing

@testable import TidegaugeStatistics

@Suite struct NearestIntegerTests {
    @Test(
        arguments: [
            (2.5, 3), (-2.5, -3), (0.4, 0), (.nan, 0), (.infinity, .max), (-.infinity, .min), (1e19, .max),
            (-1e19, .min),
            (0x1p63, .max), (-0x1p63, .min),
        ] as [(Double, Int)])
    func itIsWithinTheRange(value: Double, integer: Int) { #expect(Int(nearest: value) == integer) }
}
