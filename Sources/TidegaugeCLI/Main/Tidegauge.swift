// The command line as a library, so that a program with other drivers needs about ten lines.
import ArgumentParser
import Foundation
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeNoopDriver
import TidegaugeRun
import TidegaugeScenario

/// Runs the command line on `drivers` and exits with its outcome. Called once, from `main`.
/// - Parameters:
///   - peers: additional drivers that run only if `--driver` or a scenario names them, like the no-op driver, which
///     is always present to measure the harness.
///   - commands: additional subcommands.
public func tidegaugeMain(
    drivers: [any StoreDriver], peers: [any StoreDriver] = [], commands: [any ParsableCommand.Type] = []
) -> Never {
    StandardStream.takeClosed()
    raiseFileLimit()
    // A file that exceeds `ulimit -f` causes a write error instead of a signal, here and in trials.
    signal(SIGXFSZ, SIG_IGN)
    Tidegauge.further.withLock { $0 = commands }
    Drivers.set([NoopDriver()] + drivers + peers, unjudged: Set(peers.map(\.name) + [EngineFacts.noop]))
    do {
        try refuseUnknownCommand(CommandLine.arguments.dropFirst().first)
        var command = try Tidegauge.parseAsRoot()
        try command.run()
    } catch {
        LiveLine.clear()
        // Any other error is a fault of the harness or its environment, such as a full disk. It must not exit with 1,
        // which is a verdict about a store.
        if !(error is ExitCode), Tidegauge.exitCode(for: error) == .failure {
            printError("error: \((error as? CocoaError)?.sentence ?? "\(error)")")
            exit(Outcome.fault.rawValue)
        }
        // Arguments may contain terminal control characters.
        if Tidegauge.exitCode(for: error) == .validationFailure {
            printError(Tidegauge.fullMessage(for: error))
            exit(ExitCode.validationFailure.rawValue)
        }
        Tidegauge.exit(withError: error)
    }
    var code = OutputFailure.code.load(ordering: .relaxed)
    if code == 0, fflush(nil) != 0 { code = errno }
    guard code == 0 else {
        printError("error: standard output cannot be written: \(String(cString: strerror(code)))")
        exit(Outcome.fault.rawValue)
    }
    exit(Outcome.pass.rawValue)
}

/// Raises the soft limit of open files, up to 65,536, because each observing thread has a run loop with three
/// descriptors. Child processes inherit it.
private func raiseFileLimit() {
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(kind, &limit) == 0, case let wanted = min(limit.rlim_max, 1 << 16), limit.rlim_cur < wanted else {
        return
    }
    limit.rlim_cur = wanted
    if setrlimit(kind, &limit) != 0 {
        printError(
            "the limit of open files stays as it is (\(String(cString: strerror(errno)))): raise it with ulimit -n")
    }
}

/// Throws an error with a similar word if the first word is not a command.
private func refuseUnknownCommand(_ word: String?) throws {
    let all = Tidegauge.configuration.subcommands
    let known = all.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
    guard let word, !word.hasPrefix("-"), word != "help",
        !all.contains(where: { $0._commandName == word || $0.configuration.aliases.contains(word) })
    else {
        return
    }
    throw ValidationError("unknown command '\(word)' \(Nearest.hint(for: word, among: known))")
}

/// Warns about a limit of file sizes, which applies to stores and reports.
func warnOfFileLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(Int64.max) else {
        return
    }
    printError(
        "no file may grow beyond \(limit.rlim_cur / 1_024) kB here (ulimit -f): a store or a report that would ends its trial or the "
            + "run; raise it with ulimit -f unlimited")
}

extension CocoaError {
    /// Path and cause of a file error; Foundation's description if the cause is no POSIX error.
    fileprivate var sentence: String {
        let path = filePath ?? url?.path
        let cause = (underlying as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
        return [path, cause ?? localizedDescription].compactMap { $0 }.joined(separator: ": ")
    }
}

struct Tidegauge: ParsableCommand {
    /// Subcommands added by the program.
    static let further = Mutex<[any ParsableCommand.Type]>([])

    static let configuration = CommandConfiguration(
        commandName: "tidegauge",
        abstract: "Measures how long a change to a store takes to reach every observer, and what that costs.",
        version: ToolVersion.text,
        subcommands: [
            InitCommand.self, RunCommand.self, ConformCommand.self, ExploreCommand.self, ReplayCommand.self,
            CheckCommand.self, ListCommand.self, ReportCommand.self, CompareCommand.self, CalibrateCommand.self,
            HistoryCommand.self, SchemaCommand.self, TrialCommandLine.self, AgentCommandLine.self,
        ] + further.withLock { $0 })
}

extension ExitCode {
    init(_ outcome: Outcome) { self.init(outcome.rawValue) }
}
