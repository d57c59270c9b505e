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
                    ? "\(file) is there already, and stays as it is; name another file"
                    : "\(file) cannot be written; name a file in a folder that is there and yours to write")
        }
        print("\(file): what it asks stands in it; go on with 'tidegauge run \(file)'")
    }

    private static let text = """
        # One question to a store. Every key is in Scenarios/README.md, or 'tidegauge list keys'; every metric in
        # 'tidegauge list metrics'. 'tidegauge check' says what is wrong with a file, 'tidegauge schema' tells an editor.
        purpose: How long until ten observers know of a commit?

        # What is in the store, who watches which half of it in which order, and who changes it when.
        dataset: { items: 10_000 }
        observers: { count: 10, match: 0.5, sort: -score, deliver: run-loop }
        writers: { rate: 200/s, arrivals: poisson, change: update-score }

        # Each value is a point with trials of its own. Several keys: every combination.
        sweep: { observers.count: [1, 10] }

        measure: [end_to_end_latency, coalescing_ratio, upkeep_cost, missed_final]
        # What has to hold at every point. A percentile wants ten samples beyond it, which 'check' counts beforehand.
        limits: { missed_final: "== 0", end_to_end_latency.p90: "< 50ms" }
        # What 'tidegauge compare' judges two commits by.
        gate: end_to_end_latency

        duration: 2s
        profiles:
          smoke: { warm_up: 100ms, duration: 200ms } # does it run?
          full: { duration: 30s, repeat: 5 }

        """
}
