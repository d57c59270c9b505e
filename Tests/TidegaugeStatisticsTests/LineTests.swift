import Foundation
import StillingWellSeededRandom
import Testing

@testable import TidegaugeStatistics

@Suite("Lines and power laws")
struct LineTests {
    @Test("Points on a line give the line")
    func exact() {
        let x = [0.0, 1, 10, 100, 1_000]
        #expect(TheilSen.fit(x: x, y: x.map { 7 + 2 * $0 }) == Line(slope: 2, intercept: 7))
        #expect(TheilSen.slope(x: x, y: x.map { 7 + 2 * $0 }) == 2)
    }

    @Test("A single outlier of five points does not bend it")
    func robust() throws {
        let x = [1.0, 2, 3, 4, 5]
        let line = try #require(TheilSen.fit(x: x, y: [3, 5, 1_000, 9, 11]))
        #expect(line == Line(slope: 2, intercept: 1))
    }

    @Test("The slope is the median over all pairs, written out", arguments: seeds(50))
    func byDefinition(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let x = (0..<Int.random(in: 2...12, using: &random)).map { Double($0 / 2 * 3) + Double($0) }
        let y = x.map { _ in Double.random(in: -9...9, using: &random) }
        var slopes: [Double] = []
        for i in 0..<x.count {
            for j in 0..<x.count where x[j] > x[i] { slopes.append((y[j] - y[i]) / (x[j] - x[i])) }
        }
        slopes.sort()
        let n = slopes.count
        let expected = n % 2 == 1 ? slopes[n / 2] : (slopes[n / 2 - 1] + slopes[n / 2]) / 2
        let slope = try #require(TheilSen.slope(x: x, y: y))
        #expect(abs(slope - expected) < 1e-9)
    }

    @Test("Without two different x there is no line")
    func degenerate() {
        #expect(TheilSen.fit(x: [], y: []) == nil)
        #expect(TheilSen.fit(x: [4], y: [1]) == nil)
        #expect(TheilSen.fit(x: [4, 4, 4], y: [1, 2, 3]) == nil)
    }

    @Test("The exponent of a power law is found", arguments: [0, 0.15, 0.5, 1, 1.3, 2])
    func powerLaw(beta: Double) throws {
        let x = [1_000.0, 10_000, 100_000, 1_000_000]
        let fit = try #require(LogLogSlope.fit(x: x, y: x.map { 40 * pow($0, beta) }))
        #expect(abs(fit.exponent - beta) < 1e-9)
        #expect(fit.usedPoints == 4 && fit.droppedPoints == 0)
    }

    @Test("A single bad trial at the end of a sweep does not change the exponent")
    func spoiltEnd() throws {
        let x = [1e3, 3e3, 1e4, 3e4, 1e5]
        let fit = try #require(LogLogSlope.fit(x: x, y: [20, 20, 20, 20, 90]))
        #expect(abs(fit.exponent) < 0.05)
    }

    @Test("Points without a logarithm are left out, counted, and too few are no exponent")
    func dropped() throws {
        let fit = try #require(LogLogSlope.fit(x: [0, 10, 100, 1_000], y: [5, 10, -3, 1_000]))
        #expect(fit.usedPoints == 2 && fit.droppedPoints == 2)
        #expect(abs(fit.exponent - 1) < 1e-9)
        #expect(LogLogSlope.fit(x: [1, 10], y: [-1, 4]) == nil)
    }
}
