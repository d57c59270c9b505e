// Runs each trial in a process of its own, so that a crash or a hang in one cannot touch the next, and watches over it:
// a child that says nothing for longer than its phase may take is killed, with everything it started.
//
// `lock` guards `deadline`, `limits`, `hasEnded` and `pending`, which Foundation's queues and the waiting thread share.
import Foundation
import Measure
import Scenario
import TracedSync

/// A `TrialExecutor` that starts this binary again, as `trial`, or another one.
public final class ChildProcess: TrialExecutor {
    private let directory: String
    private let interruption: Interruption
    private let other: OtherBinary?
    private var number = 0
    /// So much environment more, which moves where a child's stack begins.
    public var paddingBytes = 0

    /// - Parameters:
    ///   - directory: where the folders of trials go; only those of trials that went wrong stay there.
    ///   - other: the binary to start instead of this one.
    public init(directory: String, interruption: Interruption, other: OtherBinary? = nil) {
        self.directory = directory
        self.interruption = interruption
        self.other = other
    }

    public func run(_ spec: TrialSpec, report: @escaping @Sendable (TrialProgress) -> Void) -> TrialResult {
        number += 1
        do {
            let folder = try TrialFolder(in: directory, number: number, spec)
            defer { folder.removeStore() }
            let result = try Child(spec, folder, other, paddingBytes, report).result(interruption)
            if result.fate == .completed || result.fate == .interrupted { folder.removeResults() }
            return result
        } catch {
            return TrialResult(fate: .harnessFault(reason: "parent"), notes: ["cannot run a trial: \(error)"])
        }
    }
}

/// One child, from its start to its end.
private final class Child: @unchecked Sendable {
    private static let lookEveryNs: Int64 = 100_000_000

    private let spec: TrialSpec
    private let folder: TrialFolder
    private let other: OtherBinary?
    private let report: @Sendable (TrialProgress) -> Void
    private let process = Process()
    private let lock: TracedMutex
    private let changed: TracedCondition
    private var hasEnded = false
    /// nil until the process has been started.
    private var deadline: HangDeadline?
    private var pending = Data()

    init(
        _ spec: TrialSpec, _ folder: TrialFolder, _ other: OtherBinary?, _ paddingBytes: Int,
        _ report: @escaping @Sendable (TrialProgress) -> Void
    ) throws {
        self.spec = spec
        self.folder = folder
        self.other = other
        self.report = report
        lock = TracedMutex("child process")
        changed = TracedCondition("child process", lock)
        try start(paddingBytes)
    }

    private func start(_ paddingBytes: Int) throws {
        // This very binary, even if the file has been replaced since.
        process.executableURL = URL(fileURLWithPath: other?.path ?? "/proc/\(getpid())/exe")
        var environment = ProcessInfo.processInfo.environment
        if paddingBytes > 0 { environment["TIDEGAUGE_PADDING"] = String(repeating: "x", count: paddingBytes) }
        // The runtime's backtrace takes seconds on a busy machine, in which a crash would be taken for a hang. Who wants
        // one sets this.
        if environment["SWIFT_BACKTRACE"] == nil { environment["SWIFT_BACKTRACE"] = "enable=no" }
        process.environment = environment
        process.arguments = ["trial", "--result-dir", folder.results, "--store-dir", folder.store]
        try Data().write(to: URL(fileURLWithPath: folder.logPath))
        process.standardError = FileHandle(forWritingAtPath: folder.logPath)
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.terminationHandler = { [weak self] _ in self?.ended() }
        output.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil } else { self?.heard(data) }
        }
        try process.run()
        lock.withLock { deadline = Patience.deadline(.loading, spec, of: process.processIdentifier) }
        let json =
            try other.map { try SpecDialect.json(spec, version: $0.talks.specVersion) } ?? JSONEncoder().encode(spec)
        try input.fileHandleForWriting.write(contentsOf: json)
        try input.fileHandleForWriting.close()
    }

    private func ended() {
        lock.withLock {
            hasEnded = true
            changed.broadcast()
        }
    }

    /// Lines of JSON; what is none of them (an engine that prints) is passed over.
    private func heard(_ data: Data) {
        let lines: [Data] = lock.withLock {
            pending += data
            var lines = pending.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            pending = Data(lines.removeLast())
            return lines.map { Data($0) }
        }
        for line in lines {
            guard let progress = try? JSONDecoder().decode(TrialProgress.self, from: line) else { continue }
            let limit = Patience.deadline(progress.phase, spec, of: process.processIdentifier)
            lock.withLock { deadline = limit }
            report(progress)
        }
    }

    /// Waits for the end, whichever it is.
    func result(_ interruption: Interruption) -> TrialResult {
        while true {
            let isOver = lock.withLock {
                if !hasEnded { changed.wait(untilNs: MonotonicClock.nowNs() + Self.lookEveryNs) }
                return hasEnded
            }
            if isOver { return finished() }
            if interruption.isRaised {
                kill()
                return TrialResult(fate: .interrupted, notes: ["interrupted"])
            }
            if isLate() {
                let hang = HangReport.fromOutside(process.processIdentifier)
                kill()
                var result = TrialResult(
                    fate: .hang, notes: ["the trial's process made no progress and was killed", hang.sentence])
                result.hangs = [hang]
                return result
            }
        }
    }

    private func isLate() -> Bool {
        guard let known = lock.withLock({ deadline }) else { return false }
        var limit = known
        if limit.hasPassed() { return true }
        // Unless the child has said something meanwhile.
        lock.withLock { if deadline?.endNs == known.endNs { deadline = limit } }
        return false
    }

    /// The child leads a process group of its own; whatever it started dies with it.
    private func kill() {
        let pid = process.processIdentifier
        if Foundation.kill(-pid, SIGKILL) != 0 { _ = Foundation.kill(pid, SIGKILL) }
        lock.withLock { while !hasEnded { changed.wait() } }
    }

    /// A process that stopped itself: where that is what a choreography expects, it has been played to its end.
    private func note(_ signal: SignalName, in result: inout TrialResult) {
        let words = folder.reasonOfTrap() ?? "the process was stopped by \(signal.text)"
        let expected = signal.isDeliberate && spec.choreography?.ending(on: spec.driver) == .trap
        result.hangs = [
            HangRecord(signal.isDeliberate ? .trap : .crash, sentence: words, isExpected: expected)
        ]
        if expected {
            result.fate = .completed
            result.notes = []
        }
    }

    private func finished() -> TrialResult {
        if process.terminationReason == .uncaughtSignal {
            let signal = SignalName(process.terminationStatus)
            let fate: TrialFate = signal.isTrap ? .crashed(signal: signal.text) : .killed(signal: signal.text)
            var result = TrialResult(
                fate: fate, notes: ["the trial's process ended by \(signal.text)"] + folder.logTail())
            if signal.isTrap { note(signal, in: &result) }
            return result
        }
        guard let data = FileManager.default.contents(atPath: folder.resultPath) else {
            let status = process.terminationStatus
            return TrialResult(
                fate: .harnessFault(reason: "no_result"),
                notes: ["the trial's process left no result (exit status \(status))"] + folder.logTail())
        }
        do {
            return try other == nil ? TrialResult.read(data) : TrialResult.readForeign(data)
        } catch {
            return TrialResult(fate: .harnessFault(reason: "bad_result"), notes: ["\(folder.resultPath): \(error)"])
        }
    }
}
