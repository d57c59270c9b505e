// The loop of a comparison: runs the next pair and passes it on to be kept, until `ComparisonEngine` wants no more
// pairs or the run is interrupted.
import ArgumentParser
import Foundation
import TidegaugeCompare
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeReport
import TidegaugeRun

final class CompareRun {
    let interruption = Interruption()
    private let signals: StopSignals
    private let progress: Progress

    init(isQuiet: Bool) {
        // A child that exits before reading its spec is a failed trial and must not end this process.
        signal(SIGPIPE, SIG_IGN)
        warnOfFileLimit()
        signals = StopSignals(interruption)
        progress = Progress(isQuiet: isQuiet)
    }

    deinit { signals.stop() }

    func note(_ text: String) { progress.note(text) }

    /// - Returns: the outcome, after the report is written and the summary printed.
    func start(
        _ plan: ComparisonPlan, _ binaries: (base: OtherBinary, head: OtherBinary), _ options: CompareOptions
    ) throws -> Outcome {
        let environment = EnvironmentReport.capture(storeDirectories: [options.out, PrivateFolder.memoryFileSystem])
        let id = RunReport.makeRunID(
            secondsSince1970: Int(Date().timeIntervalSince1970), entropy: .random(in: 0 ... .max))
        let directory = "\(options.out)/compare-\(id)"
        let report = try ComparisonReport(directory, plan, environment)
        var record = ComparisonRecord(plan, environment)
        if options.count { try count(&record, binaries, report) }
        return try measure(record, record.replayed(), report, binaries)
    }

    func goOn(_ directory: String, _ record: ComparisonRecord, _ engine: ComparisonEngine) throws -> Outcome {
        func binary(_ side: ComparedSide) throws -> OtherBinary {
            OtherBinary(path: side.executable, talks: try TrialProtocol.ask(side.executable), engines: side.engines)
        }
        let binaries = (base: try binary(record.plan.base), head: try binary(record.plan.head))
        let report = try ComparisonReport(directory, record.plan, record.environment)
        guard record.isCounting else { return try measure(record, engine, report, binaries) }
        var record = record
        try count(&record, binaries, report)
        return try measure(record, record.replayed(), report, binaries)
    }

    private func measure(
        _ record: ComparisonRecord, _ start: ComparisonEngine, _ report: ComparisonReport,
        _ binaries: (base: OtherBinary, head: OtherBinary)
    ) throws -> Outcome {
        var (record, engine) = (record, start)
        let directory = report.directory
        try pool(&engine, binaries, "\(directory)/trials") { try report.add($0) }
        let isInterrupted = interruption.isRaised
        record.isFinished = !isInterrupted
        record.environment.finish()
        let judged = JudgedComparison(record, engine)
        let outcome = isInterrupted ? .interrupted : Outcome(judged.outcome)
        try report.end(judged, exitCode: outcome.rawValue)
        let judgement = ComparisonConsole.render(judged, columns: TerminalOutput.columns)
        print(TerminalOutput.coloured(judgement), terminator: "")
        print("Report: \(directory)/\(ComparisonReport.htmlName)")
        if outcome == .interrupted { printError("continue with: tidegauge compare --resume \(directory)") }
        return outcome
    }

    /// Counts the points that `record` lacks, and adds the counts.
    private func count(
        _ record: inout ComparisonRecord, _ binaries: (base: OtherBinary, head: OtherBinary),
        _ report: ComparisonReport
    ) throws {
        try report.add([], files: [:])
        let counter: InstructionCounter
        do {
            counter = record.plan.head.engines == nil ? try .ofThisMachine() : .engine
        } catch {
            record.uncounted = [OneSided(what: "instructions", why: "\(error)")]
            return try report.add(uncounted: record.uncounted)
        }
        let stage = CountStage(
            counter: counter, binaries: binaries, folder: "\(report.directory)/counting", interruption: interruption)
        let apart = try stage.run(record.plan, known: record.counted) { title, index, count in
            progress.began("\(title) counted", index: index, of: count)
            progress.show()
        } keep: { rows, files in
            try report.add(rows, files: files)
            record.counted += rows
        }
        if interruption.isRaised { return }
        record.uncounted = apart
        try report.add(uncounted: apart)
    }

    /// Runs pairs until the engine needs no more or the run is interrupted.
    func pool(
        _ engine: inout ComparisonEngine, _ binaries: (base: OtherBinary, head: OtherBinary), _ trials: String,
        keep: (PairRecord) throws -> Void
    ) throws {
        let runner = PairRunner(engine.plan, binaries, folder: trials, interruption)
        var index = 0
        var pauseSeconds = 0.0
        while !interruption.isRaised, let assignment = engine.next() {
            index += 1
            sleep(pauseSeconds)
            let subject = engine.plan.subjects[assignment.subject]
            progress.began(
                "\(subject.title) pair \(assignment.number), \(assignment.stage.rawValue)", index: index,
                of: index + engine.pairsLeft,
                leftSeconds: engine.secondsLeft)
            progress.show()
            guard var record = runner.run(assignment, atSeconds: engine.spentSeconds) else { break }
            // Noise comes in bursts, and only a limited number of pairs may be void, so the pause after void pairs
            // grows. The pause counts towards the budget.
            pauseSeconds =
                record.void == nil || engine.tracks[record.subject].isCounted
                ? 0 : min(max(2 * pauseSeconds, record.lengthSeconds), Self.longestPause)
            record.lengthSeconds += pauseSeconds
            tell(record, subject)
            try keep(record)
            engine.take(record)
        }
        for folder in ["\(trials)/base", "\(trials)/head", trials] { try removeIfEmpty(folder) }
    }

    private static let longestPause = 30.0

    /// Sleeps for this time, or until an interruption.
    private func sleep(_ seconds: Double) {
        let endNs = MonotonicClock.nowNs() + Int64(seconds * 1e9)
        while !interruption.isRaised, MonotonicClock.nowNs() < endNs { usleep(100_000) }
    }

    private func tell(_ record: PairRecord, _ subject: ComparedSubject) {
        for failure in record.failures {
            let side = failure.isHead ? "head" : "base"
            progress.note("\(subject.title) pair \(record.number): \(side): \(failure.trial.fate.flag?.text ?? "")")
            for line in failure.trial.notes.prefix(3) { progress.note("  \(line)") }
        }
    }
}

extension Outcome {
    init(_ judged: ComparisonOutcome) {
        switch judged.word {
        case .pass: self = .pass
        case .inconclusive: self = .inconclusive
        case .regressed: self = .limitBroken
        case .failing: self = judged.fates.reduce(.pass) { $0.worse(Outcome($1, isUnavailable: false)) }
        }
    }
}
