// `tidegauge replay`: runs a hung trial again, from a run's record or from the file of an interleaving test, and
// reports how often it ended the same way.
import ArgumentParser
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeReport
import TidegaugeRun
import TidegaugeSpec
import TidegaugeTrial

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Repeat a trial that hung, and report whether it hangs in the same way.")

    @Argument(help: "File in the folder 'hangs' of a run, or a scenario file.", completion: .file())
    var file: String

    @Option(help: "Driver, if the scenario file names several.", completion: Completions.drivers)
    var driver: String?

    @Option(help: "Number of repetitions.")
    var times = 1

    @Flag(help: "Also print the stack of each thread.")
    var stacks = false

    func validate() throws {
        if times < 1 { throw ValidationError("--times must be 1 or more") }
        try Drivers.check(driver.map { [$0] } ?? [])
    }

    func run() throws {
        let (spec, wanted) = try subject()
        let folder = try PrivateFolder()
        defer { folder.remove() }
        let interruption = Interruption()
        let signals = StopSignals(interruption)
        defer { signals.stop() }
        let executor = ChildProcess(directory: folder.path, interruption: interruption)
        var same = 0
        for _ in 0..<times where !interruption.isRaised {
            let result = executor.run(spec) { _ in }
            let found = result.hangs.first { $0.kind != .inversion }
            let isSame = wanted.map { $0.kind == found?.kind && $0.cycle == found?.cycle } ?? (found != nil)
            if isSame { same += 1 }
            print(text(found, result))
        }
        if interruption.isRaised { throw ExitCode(.interrupted) }
        print("\(same) of \(times): \(wanted.map { "the same \($0.kind.rawValue)" } ?? "hung")")
        if same < times { throw ExitCode(.limitBroken) }
    }

    /// Returns the trial, and its recorded hang if `file` is a record.
    private func subject() throws -> (TrialSpec, HangRecord?) {
        if file.hasSuffix(".json") {
            guard let data = FileManager.default.contents(atPath: file),
                let kept = try? JSONDecoder().decode(ReplayableHang.self, from: data)
            else { throw ValidationError("\(file) is no recorded hang; they are in the folder 'hangs' of a run") }
            try Drivers.check([kept.spec.driver])
            return (kept.spec, kept.hang)
        }
        let scenario = try ScenarioPaths.load([file])[0]
        let names = driver.map { [$0] } ?? scenario.drivers.filter(Drivers.names.contains)
        let trials = try refusing(try scenario.trials(profile: .smoke, drivers: names))
        guard let play = scenario.interleaving else {
            throw ValidationError(
                "\(file) has no 'threads', so it is no interleaving test: 'tidegauge run --seed' repeats a load")
        }
        let hanging = trials.first { play.ending(on: $0.driver) != .completes }
        guard let spec = driver == nil ? hanging ?? trials.first : trials.first else {
            throw ValidationError("\(file) does not run on \(driver ?? "any driver of this program")")
        }
        return (spec, nil)
    }

    private func text(_ found: HangRecord?, _ result: TrialResult) -> String {
        guard let found else { return result.fate.flag?.text ?? "completed" }
        var lines = ["\(found.kind.rawValue), seen after \(found.afterNs / 1_000_000) ms: \(found.sentence)"]
        if stacks {
            for stand in found.stands {
                lines.append("  \(stand.thread) (\(stand.tid))")
                lines += stand.stack.map { "    \($0)" }
            }
        }
        return lines.joined(separator: "\n")
    }
}
