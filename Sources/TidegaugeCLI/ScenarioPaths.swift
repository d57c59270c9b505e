// The PATH arguments that `run`, `check` and `list` share.
import ArgumentParser
import TidegaugeReport
import TidegaugeScenario

struct ScenarioPaths: ParsableArguments {
    static let standard = ["Scenarios"]

    /// Those on disk, and those that ship.
    static var library: ScenarioLibrary { library(nil) }

    private static func library(_ trace: (name: String, bytes: [UInt8])?) -> ScenarioLibrary {
        ScenarioLibrary(drivers: Drivers.known, shipped: EmbeddedScenarios.texts, trace: trace)
    }

    @Argument(
        help: "Scenario files, folders of them, or names of those in Scenarios or shipped.",
        completion: Completions.scenarios)
    var paths: [String] = Self.standard

    /// All scenarios, or the exit with every problem of every file printed.
    func load() throws -> [Scenario] { try Self.load(paths) }

    /// Of those in a folder `servers` only what was asked for by its own path or name: they need a server, which a machine may not
    /// have. Says so where any are left out.
    static func withoutServers(_ loaded: [Scenario], asked paths: [String]) -> [Scenario] {
        func needsServer(_ path: String) -> Bool { path.split(separator: "/").contains("servers") }
        let kept = loaded.filter { scenario in
            !needsServer(scenario.path)
                || paths.contains { needsServer($0) || !$0.contains("/") && $0 == scenario.name }
        }
        if kept.count < loaded.count {
            printError(
                "left out: \(loaded.count - kept.count) scenarios that need a server; `make servers` runs them, as does naming "
                    + "their folder")
        }
        return kept
    }

    /// - Parameter trace: stands in for all traces that they follow.
    static func load(_ paths: [String], trace: (name: String, bytes: [UInt8])? = nil) throws -> [Scenario] {
        try refusing(try library(trace).load(paths))
    }
}

/// Turns what is wrong with a folder that was asked for into a message and exit code 64.
func refusingFolder(_ body: () throws -> Void) throws {
    do {
        try body()
    } catch let error as ReportError {
        throw ValidationError("--out: \(error.problem); choose a folder that you may write to, with room in it")
    }
}

/// Turns what is wrong with something that is to be gone on with into a message and exit code 64.
func resuming<Value>(_ body: @autoclosure () throws -> Value) throws -> Value {
    do { return try body() } catch { throw ValidationError("--resume: \(error)") }
}

/// Turns what is wrong with a scenario into messages and exit code 65.
func refusing<Value>(_ body: @autoclosure () throws(ScenarioErrors) -> Value) throws -> Value {
    do {
        return try body()
    } catch {
        printError("\(error)")
        throw ExitCode(.badScenario)
    }
}
