// `tidegauge calibrate`: the judge on trial. One binary against itself, again and again, each time a whole comparison with
// pairs of its own; and against itself with a flaw of known size.
import ArgumentParser
import Comparison
import Foundation
import Harness
import Measure
import Report
import Scenario

struct CalibrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure how often this machine would call a false alarm, and how small a slow-down it sees.",
        discussion: """
            Compares this binary with itself, over and over. The noise it finds is what later comparisons on this kind of \
            machine hold their pairs against. Ctrl-C ends it with what is finished.
            """)

    @OptionGroup var options: CompareOptions

    @Option(help: "Null comparisons. 100 without a false alarm put the rate under 3 %.")
    var comparisons = 10

    @Option(help: "Comparisons for each flaw.")
    var power = 0

    @Option(help: "A flaw to be seen: spin=5%, tail=100:5ms, linger=2:3ms; may be given several times.")
    var flaw = ["spin=1%", "spin=2%", "spin=3%", "spin=5%", "spin=10%", "spin=20%", "tail=100:5ms", "linger=2:3ms"]

    func validate() throws {
        try options.check()
        for text in flaw where Shim(text) == nil { throw ValidationError("'\(text)' is no flaw such as spin=5%") }
        if comparisons < 1 { throw ValidationError("--comparisons takes 1 or more") }
    }

    func run() throws {
        let run = CompareRun(isQuiet: options.quiet)
        let names = try Self.twoNames(in: options.out)
        let sides = try ComparedSides(base: names[0], head: names[1], options, run)
        var plan = try sides.plan(options)
        // What is void is not known before the machine is: nothing is, but for steal and pacing.
        plan.rule.mostHiccupNs = .greatestFiniteMagnitude
        let nulls = try engines(comparisons, plan, sides, (nil, nil), run, "null")
        guard !nulls.whole.isEmpty else {
            if run.interruption.isRaised { throw ExitCode(.interrupted) }
            printError("this machine is too noisy: every comparison ended for want of pairs that count")
            throw ExitCode(.inconclusive)
        }
        var calibration = Calibration(nulls: nulls.whole, noisy: nulls.noisy)
        for text in flaw where power > 0 && !run.interruption.isRaised {
            let shims: (Shim?, Shim?) = (Shim("none"), Shim(text))
            let flawed = try engines(power, plan, sides, shims, run, text)
            if !flawed.whole.isEmpty { calibration.add(text, flawed.whole) }
        }
        let page = try calibration.write(options.out, drawing: Gnuplot())
        print(CalibrationConsole.render(calibration), terminator: "")
        print("Report: \(page)")
        if run.interruption.isRaised { throw ExitCode(.interrupted) }
    }

    /// Whole comparisons, one after the other. One that was interrupted does not count, and one that the machine's noise
    /// ended early is made again: it says nothing about the judge. Half as many of those may be, and are handed on.
    private func engines(
        _ count: Int, _ plan: ComparisonPlan, _ sides: ComparedSides, _ shims: (base: Shim?, head: Shim?),
        _ run: CompareRun, _ name: String
    ) throws -> (whole: [ComparisonEngine], noisy: Int) {
        var whole: [ComparisonEngine] = []
        var noisy = 0
        while whole.count < count && noisy <= count / 2 {
            var own = plan
            own.seed = plan.seed &+ UInt64(whole.count + noisy) &* 0x9E37_79B9_7F4A_7C15
            var engine = ComparisonEngine(own)
            try run.pool(&engine, sides.binaries, "\(options.out)/calibration/trials", shims) { _ in }
            if run.interruption.isRaised { break }
            if engine.tracks.contains(where: { $0.state == .noisy || $0.state == .failing }) {
                noisy += 1
                run.note("\(name): a comparison was given up, too many void pairs; \(noisy) so far")
                continue
            }
            whole.append(engine)
            let reds = whole.count { $0.tracks.contains { $0.state == .confirmed } }
            run.note("\(name): comparison \(whole.count) of \(count), \(reds) called so far")
        }
        return (whole, noisy)
    }

    /// This binary under two names of one length.
    private static func twoNames(in root: String) throws -> [String] {
        try ["a", "b"].map { side in
            let folder = "\(root)/\(Calibration.folderName)/bin-\(side)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let path = "\(folder)/tidegauge"
            try? FileManager.default.removeItem(atPath: path)
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            try FileManager.default.copyItem(atPath: own, toPath: path)
            return path
        }
    }
}
