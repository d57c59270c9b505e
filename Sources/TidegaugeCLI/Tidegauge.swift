// The command line as a library, so that a binary with other drivers is ten lines. One file per subcommand.
import ArgumentParser
import Foundation
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeNoopDriver
import TidegaugeRun
import TidegaugeScenario

/// Runs the command line on `drivers` and exits with its outcome. Call once, from `main`.
/// - Parameters:
///   - peers: further drivers, which run only where `--driver` or a scenario names them; as does the no-op driver, which is
///     always there, to say what the harness itself costs.
///   - commands: further subcommands.
public func tidegaugeMain(
    drivers: [any StoreDriver], peers: [any StoreDriver] = [], commands: [any ParsableCommand.Type] = []
) -> Never {
    StandardStream.takeClosed()
    raiseFileLimit()
    // A file that grows beyond `ulimit -f` is an error of the write, here and in the trials, and no signal.
    signal(SIGXFSZ, SIG_IGN)
    Tidegauge.further.withLock { $0 = commands }
    Drivers.set([NoopDriver()] + drivers + peers, askedFor: Set(peers.map(\.name) + ["noop"]))
    do {
        try refuseUnknownCommand(CommandLine.arguments.dropFirst().first)
        var command = try Tidegauge.parseAsRoot()
        try command.run()
    } catch {
        LiveLine.clear()
        // What no command has made a refusal of is a fault of the harness or of what it stands on, such as a disk that is full
        // by now, and no verdict about a store: 1 would be one.
        if !(error is ExitCode), Tidegauge.exitCode(for: error) == .failure {
            printError("error: \((error as? CocoaError)?.sentence ?? "\(error)")")
            exit(Outcome.fault.rawValue)
        }
        // What was given may hold what moves a cursor.
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

/// Raises the soft limit of open files, where the hard one allows it: each observing thread has a run loop, which takes three descriptors. Processes
/// that are started inherit it.
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

/// Throws, with what was probably meant, if the first word is no command.
private func refuseUnknownCommand(_ word: String?) throws {
    let all = Tidegauge.configuration.subcommands
    let known = all.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
    guard let word, !word.hasPrefix("-"), word != "help", !all.contains(where: { $0._commandName == word }) else {
        return
    }
    throw ValidationError("unknown command '\(word)' \(Nearest.hint(for: word, among: known))")
}

/// Names a limit of files, beyond which neither stores nor reports can grow.
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
    /// What Foundation says of a file, without its own names for things.
    fileprivate var sentence: String {
        let path = filePath ?? url?.path
        let cause = (underlying as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
        return [path, cause ?? localizedDescription].compactMap { $0 }.joined(separator: ": ")
    }
}

struct Tidegauge: ParsableCommand {
    /// Commands of the program that is not the harness's own.
    static let further = Mutex<[any ParsableCommand.Type]>([])

    static let configuration = CommandConfiguration(
        commandName: "tidegauge",
        abstract: "Measures how a change moves through a live store until everyone who watches has seen it.",
        version: ToolVersion.text,
        subcommands: [
            InitCommand.self, RunCommand.self, ExploreCommand.self, ReplayCommand.self, CheckCommand.self,
            ListCommand.self, ReportCommand.self, CompareCommand.self, CalibrateCommand.self, HistoryCommand.self,
            SchemaCommand.self, TrialCommandLine.self, AgentCommandLine.self,
        ] + further.withLock { $0 })
}

extension ExitCode {
    init(_ outcome: Outcome) { self.init(outcome.rawValue) }
}
