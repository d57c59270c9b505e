// Tests of the rule by which samples break a limit on a percentile: exactly, and by simulation.
import Glibc
import StillingWellBasis
import Testing

@testable import TidegaugeStatistics

@Suite struct QuantileRuleTests {
    private static let tails = [0.5, 0.1, 0.01, 0.001]
    private static let sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]
    private static let runs = 20_000

    private func isBroken(_ samples: Int, _ beyond: Int, stalls: Int? = nil, tail: Double) -> Bool {
        QuantileRule.isBroken(.init(samples: samples, beyond: beyond, stalls: stalls ?? beyond), tail: tail)
    }

    @Test func theTailOfABinomialDistributionIsExact() {
        // By hand: 0.5^10, and 1 − 0.99^3.
        #expect(abs(QuantileRule.atLeast(10, of: 10, share: 0.5) - 1.0 / 1_024) < 1e-15)
        #expect(abs(QuantileRule.atLeast(1, of: 3, share: 0.01) - (1 - 0.970299)) < 1e-15)
        #expect(isBroken(1, 1, tail: 0.001) && !isBroken(1, 1, tail: 0.01))
        #expect(QuantileRule.atLeast(0, of: 5, share: 0.5) == 1 && QuantileRule.atLeast(6, of: 5, share: 0.5) == 0)
        for trials in [1, 7, 40, 300] {
            for hits in 1...trials {
                let sum = ClopperPearson.atMost(hits - 1, of: trials, share: 0.3)
                let tail = QuantileRule.atLeast(hits, of: trials, share: 0.3)
                #expect(abs(sum + tail - 1) < 1e-12, "\(hits) of \(trials)")
            }
        }
    }

    /// Every number of samples from 1 to 10,000, by the exact distribution.
    @Test(arguments: tails) func theChanceOfRedAtTheExactShareIsAThousandthAtMost(tail: Double) {
        var critical = 1
        for samples in 1...10_000 {
            while critical <= samples, !isBroken(samples, critical, tail: tail) { critical += 1 }
            guard critical <= samples else { continue }
            let chance = QuantileRule.atLeast(critical, of: samples, share: tail)
            if chance > 0.001 + 1e-11 { Issue.record("\(critical) of \(samples) beyond: \(chance)") }
        }
    }

    /// Returns the share of red runs, if each sample is beyond the bound with the probability `share`.
    private func redShare(samples: Int, share: Double, tail: Double, seed: UInt64) -> Double {
        // Cumulative probabilities of the number of samples beyond, so that one draw gives a whole run.
        var cumulative: [Double] = []
        var sum = 0.0
        for beyond in 0...samples {
            sum = 1 - QuantileRule.atLeast(beyond + 1, of: samples, share: share)
            cumulative.append(sum)
            if sum >= 1 { break }
        }
        var isRed: [Int: Bool] = [:]
        var random = SplitMix64(seed: seed)
        let red = (0..<Self.runs).count { _ in
            let drawn = Double.random(in: 0..<1, using: &random)
            let beyond = min(cumulative.partitioningIndex { $0 > drawn }, samples)
            if isRed[beyond] == nil { isRed[beyond] = isBroken(samples, beyond, tail: tail) }
            return isRed[beyond]!
        }
        return Double(red) / Double(Self.runs)
    }

    @Test func simulatedRunsAtTheExactShareAreRarelyRedAndBeyondItOften() {
        print("tail     n       share 1x    2x       5x       all   (share of red runs of \(Self.runs))")
        for tail in Self.tails {
            for samples in Self.sizes {
                let seed = UInt64(samples) &* 1_000 &+ UInt64(tail * 1_000)
                let shares = [tail, min(2 * tail, 0.99), min(5 * tail, 0.99)].enumerated().map { place, share in
                    redShare(samples: samples, share: share, tail: tail, seed: seed &+ UInt64(place))
                }
                let all = isBroken(samples, samples, tail: tail)
                print(tail, samples, shares[0], shares[1], shares[2], all ? 1 : 0, separator: "\t")
                // Four standard deviations of a count of 20 in 20,000 runs.
                #expect(shares[0] <= 0.001 + 4 * (0.001 / Double(Self.runs)).squareRoot(), "\(tail) \(samples)")
                if Double(samples) * tail >= 50 { #expect(shares[1] > 0.9 && all, "\(tail) \(samples)") }
            }
        }
    }

    /// Returns the share of red runs, simulated by a chain that enters and leaves stalls at random. On average the
    /// allowed share of samples is beyond the bound.
    private func redShareInStalls(samples: Int, meanStall: Double, tail: Double, runs: Int, seed: UInt64) -> Double {
        var random = SplitMix64(seed: seed)
        let leave = 1 / meanStall
        let enter = leave * tail / (1 - tail)
        let red = (0..<runs).count { _ in
            var (beyond, stalls) = (0, 0)
            var isStalled = Double.random(in: 0..<1, using: &random) < tail
            var left = samples
            while left > 0 {
                let chance = isStalled ? leave : enter
                let drawn = log(Double.random(in: .leastNonzeroMagnitude..<1, using: &random)) / log1p(-chance)
                let length = min(left, 1 + Int(drawn))
                if isStalled { (beyond, stalls) = (beyond + length, stalls + 1) }
                left -= length
                isStalled.toggle()
            }
            return isBroken(samples, beyond, stalls: stalls, tail: tail)
        }
        return Double(red) / Double(runs)
    }

    @Test(arguments: [(0.1, 20.0), (0.01, 5.0), (0.01, 20.0), (0.001, 20.0)])
    func stallsThatTakeTheExactShareAreRarelyRed(tail: Double, meanStall: Double) {
        for samples in [500, 2_000, 10_000] {
            let share = redShareInStalls(
                samples: samples, meanStall: meanStall, tail: tail, runs: 4_000, seed: UInt64(samples))
            print("stalls of \(meanStall) samples, tail \(tail), n \(samples): \(share) red")
            #expect(share <= 0.003, "\(samples) samples, stalls of \(meanStall)")
        }
    }

    @Test func aStallCountsOnceUnlessItDoesNotEnd() {
        let stall = SamplesBeyond(samples: 1_000, beyond: 100, stalls: 1)
        #expect(!QuantileRule.isBroken(stall, tail: 0.01))
        #expect(QuantileRule.isBroken(stall, tail: 0.01, countsStallsOnce: false))
        // Half of the samples, in a hundred stalls, exceed a limit of one in a hundred.
        #expect(QuantileRule.isBroken(.init(samples: 1_000, beyond: 500, stalls: 100), tail: 0.01))
        #expect(QuantileRule.isBroken(.init(samples: 1_000, beyond: 1_000, stalls: 1), tail: 0.01))
    }
}
