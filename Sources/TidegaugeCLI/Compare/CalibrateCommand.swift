// `tidegauge calibrate`: measures the comparison itself. Compares a binary with itself repeatedly, on fresh pairs each
// time, and with injected slowdowns of known size.
import ArgumentParser
import Foundation
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeReport
import TidegaugeSpec

struct CalibrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure how often this machine raises a false alarm, and how small a slowdown it detects.",
        discussion: """
            Compares this binary with itself repeatedly. Later comparisons on this kind of machine take their limit of \
            noise from it. Ctrl-C ends it and keeps what is finished.
            """)

    @OptionGroup(title: "Options as of compare") var options: CompareOptions

    @Option(help: "Number of comparisons of the binary with itself. 100 without a false alarm show a rate below 3 %.")
    var comparisons = 10

    @Option(help: "Number of comparisons for each artificial cost (--flaw).")
    var power = 0

    @Option(help: "Artificial cost to add: spin=5%, wait=10%, tail=100:5ms or linger=2:3ms; repeatable.")
    var flaw = ["spin=1%", "spin=2%", "spin=3%", "spin=5%", "spin=10%", "spin=20%", "tail=100:5ms", "linger=2:3ms"]

    @Flag(help: "Continue the calibration that was interrupted last. The options of that calibration apply.")
    var resume = false

    func validate() throws {
        try options.check()
        for text in flaw where Shim(text) == nil {
            throw ValidationError(
                "'\(text)' is no artificial cost such as spin=5%")
        }
        if comparisons < 1 { throw ValidationError("--comparisons takes 1 or more") }
    }

    func run() throws {
        try options.prepareOut()
        try refusingFolder { try ReportFolder.prepare("\(options.out)/\(Calibration.folderName)") }
        let run = CompareRun(isQuiet: options.quiet)
        let names = try Self.twoNames(in: options.out)
        let sides = try ComparedSides(base: names[0], head: names[1], options, run)
        let journal = try resume ? self.journal(of: names[0]) : CalibrationJournal(options.out, try work(sides))
        let work = journal.work
        let nulls = try engines("null", work.comparisons, (nil, nil), journal, sides, run)
        guard !nulls.isEmpty else { throw interrupted() }
        var calibration = Calibration(nulls: nulls)
        for text in work.flaws where work.power > 0 && !run.interruption.isRaised {
            let flawed = try engines(text, work.power, (Shim("none"), Shim(text)), journal, sides, run)
            if !flawed.isEmpty { calibration.add(text, flawed) }
        }
        let page = try calibration.write(options.out)
        print(CalibrationConsole.render(calibration), terminator: "")
        print("Report: \(page)")
        if run.interruption.isRaised { throw interrupted() }
    }

    private func interrupted() -> ExitCode {
        printError(
            "continue with: tidegauge calibrate --resume\(options.out == "Reports" ? "" : " --out \(options.out)")")
        return ExitCode(.interrupted)
    }

    private func work(_ sides: ComparedSides) throws -> CalibrationJournal.Work {
        var plan = try sides.plan(options)
        // The machine's noise is unknown before the calibration, so only steal and pacing void pairs. Five times as
        // many pairs as planned may be void before the calibration is given up.
        plan.rule.limits.mostHiccupNs = .greatestFiniteMagnitude
        plan.rule.limits.mostWaitShare = .greatestFiniteMagnitude
        plan.rule.mostVoidShare = 5
        return .init(plan: plan, comparisons: comparisons, power: power, flaws: flaw)
    }

    private func journal(of binary: String) throws -> CalibrationJournal {
        let journal: CalibrationJournal
        do {
            journal = try CalibrationJournal(resuming: options.out)
        } catch let error as DamagedReport {
            throw ValidationError("--resume: \(error)")
        }
        guard journal.work.plan.base.fingerprint == Fingerprint.of(binary) else {
            throw ValidationError("--resume: another binary began it: begin a new calibration")
        }
        return journal
    }

    /// Runs comparisons, and returns those that are complete.
    private func engines(
        _ kind: String, _ count: Int, _ shims: (base: Shim?, head: Shim?), _ journal: CalibrationJournal,
        _ sides: ComparedSides, _ run: CompareRun
    ) throws -> [ComparisonEngine] {
        var finished: [ComparisonEngine] = []
        for number in 0..<count where !run.interruption.isRaised {
            var plan = journal.work.plan
            (plan.base.shim, plan.head.shim) = shims
            plan.seed = plan.seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15
            var engine = try journal.engine(plan, kind: kind, number: number)
            try run.pool(&engine, sides.binaries, "\(options.out)/\(Calibration.folderName)/trials") {
                try journal.add($0, kind: kind, number: number)
            }
            if run.interruption.isRaised { break }
            if let track = engine.tracks.first(where: { $0.isCutShort || $0.state == .failing }) {
                let why = track.isCutShort ? "nearly every pair is void" : "trials do not complete"
                printError("\(track.subject.title): \(why): nothing can be calibrated")
                throw ExitCode(.inconclusive)
            }
            finished.append(engine)
            let reds = finished.count { $0.tracks.contains { $0.state == .confirmed } }
            run.note("\(kind): comparison \(number + 1) of \(count), \(reds) with a regression so far")
        }
        return finished
    }

    /// Copies this binary to two paths of equal length.
    private static func twoNames(in root: String) throws -> [String] {
        try ["a", "b"].map { side in
            let folder = "\(root)/\(Calibration.folderName)/bin-\(side)"
            try ReportFolder.make(folder)
            let path = "\(folder)/tidegauge"
            try? FileManager.default.removeItem(atPath: path)
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            try FileManager.default.copyItem(atPath: own, toPath: path)
            return path
        }
    }
}
