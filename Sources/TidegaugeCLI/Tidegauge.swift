// The command line as a library, so that a binary with other drivers is ten lines. One file per subcommand.
import ArgumentParser
import Foundation
import Synchronization
import TidegaugeDriver
import TidegaugeNoopDriver
import TidegaugeRun

/// Runs the command line on `drivers` and exits with its outcome. Call once, from `main`.
/// - Parameters:
///   - peers: further drivers, which run only where `--driver` or a scenario names them; as does the no-op driver, which is
///     always there, to say what the harness itself costs.
///   - commands: further subcommands.
public func tidegaugeMain(
    drivers: [any StoreDriver], peers: [any StoreDriver] = [], commands: [any ParsableCommand.Type] = []
) -> Never {
    raiseFileLimit()
    Tidegauge.further.withLock { $0 = commands }
    Drivers.set([NoopDriver()] + drivers + peers, askedFor: Set(peers.map(\.name) + ["noop"]))
    do {
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
        Tidegauge.exit(withError: error)
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
