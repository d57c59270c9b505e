// `tidegauge init`: writes a small scenario that can be run.
import ArgumentParser
import Foundation

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a small scenario file to start from.")

    @Argument(help: "File to write. An existing file is not changed.", completion: .file(extensions: ["yaml"]))
    var file = "scenario.yaml"

    func validate() throws {
        if !file.hasSuffix(".yaml") {
            throw ValidationError("'\(file)' does not end in .yaml, as a scenario file must")
        }
    }

    func run() throws {
        do {
            try Data(Self.text.utf8).write(to: URL(fileURLWithPath: file), options: .withoutOverwriting)
        } catch {
            throw ValidationError(
                FileManager.default.fileExists(atPath: file)
                    ? "\(file) exists and was not changed: name another file"
                    : "\(file) cannot be written: name a file in an existing folder that you may write to")
        }
        print("\(file): written; run it with 'tidegauge run \(file)'")
    }

    private static let text = """
        # One question to a store. All keys: Docs/scenarios.md, or 'tidegauge list keys'. All metrics: Docs/metrics.md, or
        # 'tidegauge list metrics'. 'tidegauge check' validates a file, 'tidegauge schema' prints a JSON Schema for editors.
        purpose: How long until ten observers are called for a commit?

        # The rows; the observers with their query, its order and their delivery context; the writers with their schedule.
        dataset: { items: 10_000 }
        observers: { count: 10, match: 0.5, sort: -score, deliver: run-loop }
        writers: { rate: 200/s, arrivals: poisson, change: update-score }

        # Each value is a point with trials of its own. Several keys give every combination.
        sweep: { observers.count: [1, 10] }

        measure: [end_to_end_latency, coalescing_ratio, upkeep_cost, missed_final]
        # Conditions at every point. A percentile needs ten samples beyond it; 'check' warns if a load has too few commits.
        limits: { missed_final: "== 0", end_to_end_latency.p90: "< 50ms" }
        # The metric by which 'tidegauge compare' compares two commits.
        gate: end_to_end_latency

        duration: 2s
        profiles:
          smoke: { warm_up: 100ms, duration: 200ms } # checks that it runs
          full: { duration: 30s, repeat: 5 }

        """
}
