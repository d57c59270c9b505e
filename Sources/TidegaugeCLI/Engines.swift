// Engines that `--driver` names by a command or by a file, each in a process of its own.
import ArgumentParser
import Foundation
import Synchronization
import TidegaugeProcessDriver
import TidegaugeScenario

enum Engines {
    /// Engines that have been asked for, by the argument.
    private static let met = Mutex<[(argument: String, engine: KnownEngine)]>([])

    static var all: [KnownEngine] { met.withLock { $0.map(\.engine) } }

    /// Names of drivers by the argument that they were asked for with; nil if there are none.
    static var arguments: [String: String]? {
        let pairs = met.withLock { $0.map { ($0.argument, $0.engine.name) } }
        return pairs.isEmpty ? nil : Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// The engines as an argument of the process of a trial; nil if there are none.
    static func json() throws -> String? {
        let all = all
        return all.isEmpty ? nil : String(decoding: try JSONEncoder().encode(all), as: UTF8.self)
    }

    /// Adds the engines of `json()` in the process of a trial.
    static func add(_ json: String) throws {
        let engines = try JSONDecoder().decode([KnownEngine].self, from: Data(json.utf8))
        met.withLock { $0 += engines.map { ("", $0) } }
    }

    /// Whether an argument of `--driver` that names no driver is a command or a file.
    static func isCommand(_ argument: String) -> Bool { argument.contains(" ") || argument.contains("/") }

    /// Starts each engine once, asks it for its facts, and adds it to the drivers.
    /// - Returns: the arguments with each command replaced by the name of its driver.
    /// - Throws: an exit that says what is wrong with an engine.
    static func names(_ arguments: [String]) throws -> [String] {
        try arguments.map { argument in
            if Drivers.names.contains(argument) || !isCommand(argument) { return argument }
            if let known = met.withLock({ $0.first { $0.argument == argument } }) { return known.engine.name }
            let engine: KnownEngine
            do {
                engine = try KnownEngine(meeting: try program(argument))
            } catch let exit as ExitCode {
                throw exit
            } catch {
                throw ValidationError("--driver '\(argument)': \(error)")
            }
            guard !Drivers.names.contains(engine.name) else {
                throw ValidationError(
                    "--driver '\(argument)': another driver has the name '\(engine.name)' too: give it one of its own by a file (name: …, command: …)"
                )
            }
            met.withLock { $0.append((argument, engine)) }
            return engine.name
        }
    }

    private static func program(_ argument: String) throws -> EngineProgram {
        guard argument.hasSuffix(".yaml") || argument.hasSuffix(".yml"), !argument.contains(" ") else {
            return EngineProgram(command: argument)
        }
        let file = try refusing(try EngineFile.read(path: argument))
        return EngineProgram(
            command: file.command, name: file.name, environment: file.environment, folder: file.folder)
    }
}
