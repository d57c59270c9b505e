// Texts of the cells in the table of interleaving tests. Pure.
import TidegaugeSpec

enum InterleavingWords {
    /// Returns `✔ 9.61 ms`, `caught in 112 ms`, `✘ hang` or `skipped`. Empty if the test was not run on the engine.
    static func cell(_ outcome: InterleavingTests.Outcome) -> String {
        switch outcome {
        case .completed(let ns): "✔" + (ns.map { " \(time($0))" } ?? "")
        case .caught(let ns): "caught" + (ns.map { " in \(time($0))" } ?? "")
        case .failed(let why): "✘ \(why)"
        case .skipped: "skipped"
        case .none: ""
        }
    }

    private static func time(_ ns: Double) -> String { Humanised.text(ns, unit: "ns") }
}
