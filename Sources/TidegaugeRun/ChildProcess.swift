// Runs each trial in a child process, so that a crash or a hang cannot affect other trials. A child that hangs is
// killed together with its process group.
import Foundation
import TidegaugeMeasure
import TidegaugeProfiles
import TidegaugeSpec
import TidegaugeTrial

/// A `TrialExecutor` that runs the `trial` command of this binary or of another one.
public final class ChildProcess: TrialExecutor {
    private let directory: String
    private let interruption: Interruption
    private let other: OtherBinary?
    private let hosts: [HostEntry]
    /// Engines that run in processes of their own, as JSON for the trial; nil if there are none.
    private let engines: String?
    private var number = 0
    /// Copy of the program for valgrind, made on first use.
    private var stripped: String?
    /// Profiles of the last trial by role, if callgrind counted it.
    public private(set) var profiles: [ThreadRole: CallProfile] = [:]
    /// Whether profiles of counted trials record callers. Counts are not affected.
    public var profilesCallPaths = false
    /// Bytes added to the child's environment, which shift the start of its stack.
    public var paddingBytes = 0

    /// - Parameters:
    ///   - directory: parent of the trials' folders. Only folders of failed trials are kept.
    ///   - other: binary to run instead of this one.
    ///   - hosts: hosts for trials that need several; empty: processes on this machine.
    ///   - engines: engines that run in processes of their own, as JSON for the trial.
    public init(
        directory: String, interruption: Interruption, other: OtherBinary? = nil, hosts: [HostEntry] = [],
        engines: String? = nil
    ) {
        (self.directory, self.interruption, self.other, self.hosts) = (directory, interruption, other, hosts)
        self.engines = engines ?? other?.engines
    }

    public func run(_ spec: TrialSpec, report: @escaping @Sendable (TrialProgress) -> Void) -> TrialResult {
        number += 1
        profiles = [:]
        do {
            let folder = try TrialFolder(in: directory, number: number, spec)
            defer { folder.removeStore() }
            // The running binary itself, even if its file was replaced meanwhile.
            let program = other?.path ?? "/proc/\(getpid())/exe"
            let isUnderCallgrind = spec.count?.counter == InstructionCounter.callgrind.rawValue
            var arguments = ["trial", "--result-dir=\(folder.results)", "--store-dir=\(folder.store)"]
            if !hosts.isEmpty {
                arguments += ["--hosts", String(decoding: try JSONEncoder().encode(hosts), as: UTF8.self)]
            }
            // An engine may outlive a trial that was killed, and leave processes behind.
            let family = engines.map { _ in
                ProcessFamily("TIDEGAUGE_TRIAL", "\(getpid())-\(number)-\(UInt32.random(in: 0 ... .max))")
            }
            defer { family?.kill() }
            if let engines { arguments += ["--engines", engines] }
            let command =
                isUnderCallgrind
                ? try CallgrindChild.command(
                    try strippedCopy(of: program), arguments, results: folder.results, callPaths: profilesCallPaths)
                : (program, arguments)
            let child = try Child(
                spec, folder, other, command, family?.environment ?? [:], paddingBytes, report)
            var result = child.result(interruption)
            if isUnderCallgrind, result.fate == .completed {
                let counts = try CallgrindChild.counts(in: folder.results)
                result.count?.add(inCommits: counts.inCommits, atRest: counts.atRest)
                profiles = counts.profiles
            }
            if result.fate == .completed || result.fate == .interrupted { folder.removeResults() }
            return result
        } catch {
            return TrialResult(fate: .harnessFault(reason: "parent"), notes: ["cannot run a trial: \(error)"])
        }
    }

    private func strippedCopy(of program: String) throws -> String {
        if let stripped { return stripped }
        let copy = "\(directory)/stripped"
        try CallgrindChild.strip(program, to: copy)
        stripped = copy
        return copy
    }

    deinit {
        if let stripped { try? FileManager.default.removeItem(atPath: stripped) }
    }
}

private final class Child {
    private static let lookEveryNs: Int64 = 100_000_000

    private let spec: TrialSpec
    private let folder: TrialFolder
    private let other: OtherBinary?
    private let report: (TrialProgress) -> Void
    private let process: Subprocess
    private var lines = LineSplitter()
    private var deadline: HangDeadline

    init(
        _ spec: TrialSpec, _ folder: TrialFolder, _ other: OtherBinary?, _ command: (path: String, arguments: [String]),
        _ variables: [String: String], _ paddingBytes: Int, _ report: @escaping (TrialProgress) -> Void
    ) throws {
        (self.spec, self.folder, self.other, self.report) = (spec, folder, other, report)
        var environment = variables
        if paddingBytes > 0 { environment["TIDEGAUGE_PADDING"] = String(repeating: "x", count: paddingBytes) }
        // The runtime's backtrace takes seconds on a busy machine, so that a crash would be reported as a hang. It
        // can be enabled by setting the variable.
        let own = ProcessInfo.processInfo.environment
        if own["SWIFT_BACKTRACE"] == nil { environment["SWIFT_BACKTRACE"] = "enable=no" }
        // Hash seeds differ between processes and would change the counts.
        if spec.count != nil {
            environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
            // jemalloc returns pages by the clock, so that is turned off. Memory freed by another thread is returned
            // in batches whose phase is random, so batches are kept small.
            environment["MALLOC_CONF"] = "dirty_decay_ms:-1,muzzy_decay_ms:-1,tcache_nslots_small_max:20"
        }
        let json =
            try other.map { try SpecDialect.json(spec, version: $0.talks.specVersion) } ?? JSONEncoder().encode(spec)
        try Data().write(to: URL(fileURLWithPath: folder.logPath))
        process = try Subprocess(
            command.path, command.arguments, environment: environment, input: json, errors: .file(folder.logPath))
        deadline = Timeouts.deadline(.loading, spec, of: process.pid)
    }

    /// Parses a line of JSON. Other lines, such as output of an engine, are ignored.
    private func hear(_ line: [UInt8]) {
        guard let progress = try? JSONDecoder().decode(TrialProgress.self, from: Data(line)) else { return }
        deadline = Timeouts.deadline(progress.phase, spec, of: process.pid)
        report(progress)
    }

    func result(_ interruption: Interruption) -> TrialResult {
        while true {
            let exit = process.advance(untilNs: MonotonicClock.nowNs() + Self.lookEveryNs) { _, bytes in
                for line in lines.add(bytes) { hear(line) }
            }
            if let exit { return finished(exit) }
            if interruption.isRaised {
                process.kill()
                return TrialResult(fate: .interrupted, notes: ["interrupted"])
            }
            if deadline.hasPassed() {
                let hang = HangReport.fromOutside(process.pid)
                process.kill()
                var result = TrialResult(
                    fate: .hang, notes: ["the trial's process made no progress and was killed", hang.sentence])
                result.hangs = [hang]
                return result
            }
        }
    }

    /// Records a trap or crash. A trap that the interleaving test expects counts as completion.
    private func note(_ signal: SignalName, in result: inout TrialResult) {
        let words = folder.reasonOfTrap() ?? "the process was stopped by \(signal.text)"
        let expected = signal.isDeliberate && spec.interleaving?.ending(on: spec.driver) == .trap
        result.hangs = [HangRecord(signal.isDeliberate ? .trap : .crash, sentence: words, isExpected: expected)]
        if expected {
            result.fate = .completed
            result.notes = []
        }
    }

    private func finished(_ exit: Subprocess.Exit) -> TrialResult {
        if case .signal(let number) = exit {
            let signal = SignalName(number)
            let fate: TrialFate = signal.isTrap ? .crashed(signal: signal.text) : .killed(signal: signal.text)
            var result = TrialResult(
                fate: fate, notes: ["the trial's process ended by \(signal.text)"] + folder.logTail())
            if signal.isTrap { note(signal, in: &result) }
            return result
        }
        guard let data = FileManager.default.contents(atPath: folder.resultPath) else {
            return TrialResult(
                fate: .harnessFault(reason: "no_result"),
                notes: ["the trial's process wrote no result (\(exit))"] + folder.logTail())
        }
        do {
            return try other == nil ? TrialResult.read(data) : TrialResult.readForeign(data)
        } catch {
            return TrialResult(fate: .harnessFault(reason: "bad_result"), notes: ["\(folder.resultPath): \(error)"])
        }
    }
}

/// Runs one trial at a time and always returns a result.
public protocol TrialExecutor: AnyObject {
    /// - Parameter report: called from time to time, on any thread.
    /// - Returns: a result whose `fate` says how the trial ended.
    func run(_ spec: TrialSpec, report: @escaping @Sendable (TrialProgress) -> Void) -> TrialResult
}
