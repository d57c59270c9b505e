// Runs each trial in a process of its own, so that a crash or a hang in one cannot touch the next, and watches over it:
// a child that says nothing for longer than its phase may take is killed, with everything it started.
import Foundation
import TidegaugeMeasure
import TidegaugeProfiles
import TidegaugeSpec
import TidegaugeTrial

/// A `TrialExecutor` that starts this binary again, as `trial`, or another one.
public final class ChildProcess: TrialExecutor {
    private let directory: String
    private let interruption: Interruption
    private let other: OtherBinary?
    private let hosts: [HostEntry]
    private var number = 0
    /// A copy for valgrind, once one was needed.
    private var stripped: String?
    /// Of the last trial, where callgrind counted it: what the threads of each role did.
    public private(set) var profiles: [ThreadRole: CallProfile] = [:]
    /// Whether the profiles of counted trials say who called a function. The counts are the same.
    public var profilesCallPaths = false
    /// So much environment more, which moves where a child's stack begins.
    public var paddingBytes = 0

    /// - Parameters:
    ///   - directory: where the folders of trials go; only those of trials that went wrong stay there.
    ///   - other: the binary to start instead of this one.
    ///   - hosts: for trials that ask for several; none: processes of this machine.
    public init(
        directory: String, interruption: Interruption, other: OtherBinary? = nil, hosts: [HostEntry] = []
    ) {
        (self.directory, self.interruption, self.other, self.hosts) = (directory, interruption, other, hosts)
    }

    public func run(_ spec: TrialSpec, report: @escaping @Sendable (TrialProgress) -> Void) -> TrialResult {
        number += 1
        profiles = [:]
        do {
            let folder = try TrialFolder(in: directory, number: number, spec)
            defer { folder.removeStore() }
            // This very binary, even if the file has been replaced since.
            let program = other?.path ?? "/proc/\(getpid())/exe"
            let isUnderCallgrind = spec.count?.counter == InstructionCounter.callgrind.rawValue
            var arguments = ["trial", "--result-dir=\(folder.results)", "--store-dir=\(folder.store)"]
            if !hosts.isEmpty {
                arguments += ["--hosts", String(decoding: try JSONEncoder().encode(hosts), as: UTF8.self)]
            }
            let command =
                isUnderCallgrind
                ? try CallgrindChild.command(
                    try strippedCopy(of: program), arguments, results: folder.results, callPaths: profilesCallPaths)
                : (program, arguments)
            var result = try Child(spec, folder, other, command, paddingBytes, report).result(interruption)
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
        _ paddingBytes: Int, _ report: @escaping (TrialProgress) -> Void
    ) throws {
        (self.spec, self.folder, self.other, self.report) = (spec, folder, other, report)
        var environment: [String: String] = [:]
        if paddingBytes > 0 { environment["TIDEGAUGE_PADDING"] = String(repeating: "x", count: paddingBytes) }
        // The runtime's backtrace takes seconds on a busy machine, in which a crash would be taken for a hang. Who wants
        // one sets this.
        let own = ProcessInfo.processInfo.environment
        if own["SWIFT_BACKTRACE"] == nil { environment["SWIFT_BACKTRACE"] = "enable=no" }
        // How sets and dictionaries lie is drawn anew in each process, and would be counted.
        if spec.count != nil {
            environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
            // When jemalloc gives pages back goes by the clock. What one thread frees of another's it gives back in lots: where
            // the count begins in one is chance, so that one lot more or less must not be much.
            environment["MALLOC_CONF"] = "dirty_decay_ms:-1,muzzy_decay_ms:-1,tcache_nslots_small_max:20"
        }
        let json =
            try other.map { try SpecDialect.json(spec, version: $0.talks.specVersion) } ?? JSONEncoder().encode(spec)
        try Data().write(to: URL(fileURLWithPath: folder.logPath))
        process = try Subprocess(
            command.path, command.arguments, environment: environment, input: json, errors: .file(folder.logPath))
        deadline = Timeouts.deadline(.loading, spec, of: process.pid)
    }

    /// A line of JSON; what is none (an engine that prints) is passed over.
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

    /// A process that stopped itself: where that is what a choreography expects, it has been played to its end.
    private func note(_ signal: SignalName, in result: inout TrialResult) {
        let words = folder.reasonOfTrap() ?? "the process was stopped by \(signal.text)"
        let expected = signal.isDeliberate && spec.choreography?.ending(on: spec.driver) == .trap
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
                notes: ["the trial's process left no result (\(exit))"] + folder.logTail())
        }
        do {
            return try other == nil ? TrialResult.read(data) : TrialResult.readForeign(data)
        } catch {
            return TrialResult(fate: .harnessFault(reason: "bad_result"), notes: ["\(folder.resultPath): \(error)"])
        }
    }
}

/// Runs one trial at a time and always comes back.
public protocol TrialExecutor: AnyObject {
    /// - Parameter report: called now and then, on any thread.
    /// - Returns: a result whatever happened; its `fate` says what.
    func run(_ spec: TrialSpec, report: @escaping @Sendable (TrialProgress) -> Void) -> TrialResult
}
