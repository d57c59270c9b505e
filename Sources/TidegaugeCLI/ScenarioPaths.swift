// The PATH arguments of `run`, `check` and `list`.
import ArgumentParser
import TidegaugeReport
import TidegaugeScenario

struct ScenarioPaths: ParsableArguments {
    static let standard = ["Scenarios"]

    /// Scenarios on disk and embedded ones.
    static var library: ScenarioLibrary { library(nil) }

    private static func library(_ trace: (name: String, bytes: [UInt8])?) -> ScenarioLibrary {
        ScenarioLibrary(drivers: Drivers.known, shipped: EmbeddedScenarios.texts, trace: trace)
    }

    @Argument(
        help: "Scenario files, folders of scenario files, or names of scenarios (in Scenarios, or shipped).",
        completion: Completions.scenarios)
    var paths: [String] = Self.standard

    /// Returns all scenarios, or exits after printing every problem of every file.
    func load() throws -> [Scenario] { try Self.load(paths) }

    /// Removes scenarios in folders named `servers`, which need a server, unless their name, or any path with such a
    /// folder, was given.
    /// - Parameter isReported: whether to print how many are removed.
    static func withoutServers(_ loaded: [Scenario], asked paths: [String], isReported: Bool) -> [Scenario] {
        func needsServer(_ path: String) -> Bool { path.split(separator: "/").contains("servers") }
        let kept = loaded.filter { scenario in
            !needsServer(scenario.path)
                || paths.contains { needsServer($0) || !$0.contains("/") && $0 == scenario.name }
        }
        if isReported, kept.count < loaded.count {
            printError(
                "left out: \(loaded.count - kept.count) scenarios that need a server; `make servers` runs them, as does naming "
                    + "their folder")
        }
        return kept
    }

    /// - Parameter trace: replacement for all traces that they follow.
    static func load(_ paths: [String], trace: (name: String, bytes: [UInt8])? = nil) throws -> [Scenario] {
        try refusing(try library(trace).load(paths))
    }
}

/// Converts a problem of a requested folder to a message and exit code 64.
func refusingFolder(_ body: () throws -> Void) throws {
    do {
        try body()
    } catch let error as ReportError {
        throw ValidationError("--out: \(error.problem); choose a folder that you may write to, with room in it")
    }
}

/// Converts a problem of a run to resume to a message and exit code 64.
func resuming<Value>(_ body: @autoclosure () throws -> Value) throws -> Value {
    do { return try body() } catch { throw ValidationError("--resume: \(error)") }
}

/// Converts problems of a scenario to messages and exit code 65.
func refusing<Value>(_ body: @autoclosure () throws(ScenarioErrors) -> Value) throws -> Value {
    do {
        return try body()
    } catch {
        printError("\(error)")
        throw ExitCode(.badScenario)
    }
}
