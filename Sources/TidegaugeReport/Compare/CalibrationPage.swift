// A calibration as text for a terminal and as a page with two plots. Pure.
import Foundation
import TidegaugeStatistics

public enum CalibrationConsole {
    public static func render(_ calibration: Calibration) -> String {
        var lines = [
            calibration.machine, "", "noise of a pair (standard deviation), and the detectable change of 20 pairs:",
        ]
        lines += calibration.noise.map { noise in
            "  \(noise.scenario) \(noise.driver) \(noise.name)\(noise.isGate ? " (gate)" : ""): "
                + "\(CalibrationPage.share(noise.sigma)), \(CalibrationPage.share(CalibrationPage.sight(noise)))"
        }
        lines += ["", falseReds(calibration)]
        if let uniformity = Uniformity.test(calibration.pValues) {
            lines.append(
                "p-values against uniform: largest distance \(String(format: "%.3f", uniformity.distance)) of "
                    + "\(calibration.pValues.count), p = \(String(format: "%.2f", uniformity.pValue))")
        }
        lines += calibration.power.map { power in
            "\(power.shim): detected in \(power.called) of \(power.comparisons), "
                + "\(Int(nearest: power.secondsPerComparison)) s each"
                + (power.seenBy.isEmpty ? "" : "; seen by " + power.seenBy.prefix(6).joined(separator: ", "))
                + noisy(power.noisy)
        }
        return (lines + ["", "this machine \(calibration.fitness)"]).joined(separator: "\n") + "\n"
    }

    static func noisy(_ count: Int?) -> String {
        count.map { $0 > 0 ? "; \($0) of them had too many void pairs" : "" } ?? ""
    }

    static func falseReds(_ calibration: Calibration) -> String {
        "null comparisons: \(calibration.falseReds) of \(calibration.comparisons) called something regressed; "
            + "the true rate is under \(String(format: "%.1f", calibration.falseRedBound * 100)) % (95 %, Clopper–Pearson)"
            + noisy(calibration.noisy)
    }
}

enum CalibrationPage {
    /// Returns the smallest change that 20 pairs of this noise detect.
    static func sight(_ noise: Calibration.Noise) -> Double {
        DetectableEffect().effect(sigma: noise.sigma, pairs: 20).map { Foundation.exp($0) - 1 } ?? .infinity
    }

    static func share(_ value: Double) -> String { String(format: "%.1f %%", value * 100) }

    static func render(_ calibration: Calibration) throws -> String {
        let plots = [pValues(calibration), power(calibration)].compactMap { $0 }
        let page: [String: Any] = [
            "machine": calibration.machine,
            "fitness": calibration.fitness, "reds": CalibrationConsole.falseReds(calibration),
            "plots": plots.map(HTMLPage.figure),
            "noise": calibration.noise.map { noise -> [String: Any] in
                [
                    "what": Escaped.visible("\(noise.scenario) \(noise.driver) \(noise.name)"), "isGate": noise.isGate,
                    "figures": [
                        share(noise.sigma), share(sight(noise)), String(format: "%.1f s", noise.secondsPerPair),
                    ],
                ]
            },
            "power": calibration.power.map { power -> [String: Any] in
                [
                    "shim": Escaped.visible(power.shim), "called": "\(power.called) of \(power.comparisons)",
                    "seconds": "\(Int(nearest: power.secondsPerComparison)) s",
                    "seen": Escaped.visible(power.seenBy.joined(separator: ", ")),
                ]
            },
        ]
        return try HTMLPage.render("calibration", title: "Tidegauge calibration: \(calibration.machine)", page)
    }

    /// Distribution of the p-values: the diagonal if there are no effects.
    static func pValues(_ calibration: Calibration) -> Plot? {
        let sorted = calibration.pValues.sorted()
        let points = sorted.enumerated().flatMap { index, p in
            [index, index + 1].map { Plot.Point(p, Double($0) / Double(sorted.count)) }
        }
        return Plot(
            title: "p-values of null comparisons",
            caption:
                "One per comparison and gate, of one binary against itself. If all points are on the diagonal, p-values are exact.",
            xLabel: "p", yLabel: "share at or under p", x: .plain(isLogarithmic: false),
            y: .plain(isLogarithmic: false),
            series: [
                .init("measured", 1, .line, points), .init("uniform", 8, .dashed, [.init(0, 0), .init(1, 1)]),
            ]
        ).drawable()
    }

    /// Share of detected slowdowns by injected CPU, and the share expected from the noise of the gates.
    static func power(_ calibration: Calibration) -> Plot? {
        let spins = calibration.power.compactMap { power -> Plot.Point? in
            guard power.shim.hasPrefix("spin="), let percent = Double(power.shim.dropFirst(5).dropLast()) else {
                return nil
            }
            return Plot.Point(percent / 100, Double(power.called) / Double(max(power.comparisons, 1)))
        }
        guard let most = spins.map(\.x).max(), let sigma = median(calibration.noise.filter(\.isGate).map(\.sigma)),
            sigma > 0
        else { return nil }
        let reach = (0.955 * 20).squareRoot() / sigma
        let promised = stride(from: 0.0, through: most, by: most / 60).map {
            Plot.Point($0, Normal.cumulative(Foundation.log(1 + $0) * reach - Normal.quantile(0.99)))
        }
        return Plot(
            title: "detected artificial costs",
            caption: "CPU added to every commit, and the share of comparisons that were red.",
            xLabel: "CPU added", yLabel: "share called", x: .change, y: .plain(isLogarithmic: false),
            series: [
                .init("measured", 1, .points, spins),
                .init("nineteen of twenty", 5, .dashed, [.init(0, 0.95), .init(most, 0.95)]),
                .init("expected from 20 pairs with this noise", 8, .dashed, promised),
            ]
        ).drawable()
    }
}
