// Tests of the sleeps that commits with an injected wait owe. The test decides how late a sleep ends.
import Testing

@testable import TidegaugeTrialRunner

@Suite("Commits that wait for a share of their time")
struct WaitDebtTests {
    /// Returns how long the commits of these lengths sleep.
    private func slept(_ lengthsNs: [Int64], share: Double, late: (Int) -> Int64) -> [Int64] {
        var debt = WaitDebt(share: share)
        return lengthsNs.enumerated().map { index, lengthNs in
            guard let askedNs = debt.sleepNs(after: lengthNs) else { return 0 }
            let sleptNs = askedNs + late(index)
            debt.slept(sleptNs, asked: askedNs)
            return sleptNs
        }
    }

    @Test("Each long commit sleeps, so that the median moves by the share", arguments: [0, 60_000])
    func long(lateNs: Int64) {
        let all = slept(Array(repeating: 2_000_000, count: 500), share: 0.1) { _ in lateNs }
        let settled = all.dropFirst(50).sorted()
        #expect(abs(settled[settled.count / 2] - 200_000) < 2_000)
        #expect(settled[0] > 150_000)
    }

    @Test("Short commits share sleeps; in total they sleep for the share", arguments: [8_000, 100_000, 1_000_000])
    func short(lengthNs: Int64) {
        let all = slept(Array(repeating: lengthNs, count: 4_000), share: 0.1) { 40_000 + Int64($0 % 7) * 5_000 }
        let share = Double(all.reduce(0, +)) / Double(lengthNs * 4_000)
        #expect(abs(share - 0.1) < 0.005, "\(share)")
        #expect(all.allSatisfy { $0 == 0 || Double($0) >= WaitDebt.shortestNs })
    }

    @Test("A sleep that lasted too long is not compensated by later commits")
    func outlier() {
        let all = slept(Array(repeating: 2_000_000, count: 100), share: 0.1) { $0 == 50 ? 30_000_000 : 60_000 }
        #expect(all[51] < Int64(200_000) && all[53...].allSatisfy { $0 > 100_000 })
    }

    @Test("With a share of 0 no commit sleeps")
    func nothing() {
        #expect(slept(Array(repeating: 5_000_000, count: 50), share: 0) { _ in 60_000 }.allSatisfy { $0 == 0 })
    }
}
