// Engines that `--driver` names by a command or by a file, each in a process of its own.
import ArgumentParser
import Foundation
import Synchronization
import TidegaugeProcessDriver
import TidegaugeScenario

enum Engines {
    /// Error of an engine that does not start or whose facts cannot be used.
    struct Refusal: Error, CustomStringConvertible {
        var description: String
    }

    /// Engines that are drivers here, with the `--driver` argument that named each. In the process of a trial each
    /// argument is empty.
    private static let met = Mutex<[(argument: String, engine: KnownEngine)]>([])

    static var all: [KnownEngine] { met.withLock { $0.map(\.engine) } }

    /// Names of drivers by the argument that named them; nil if there are none.
    static var arguments: [String: String]? {
        let pairs = met.withLock { $0.map { ($0.argument, $0.engine.name) } }
        return pairs.isEmpty ? nil : Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// The engines as an argument of the process of a trial; nil if there are none.
    static func json() throws -> String? {
        let all = all
        return all.isEmpty ? nil : try json(all)
    }

    static func json(_ engines: [KnownEngine]) throws -> String {
        String(decoding: try JSONEncoder().encode(engines), as: UTF8.self)
    }

    /// Adds the engines of `json()` in the process of a trial.
    static func add(_ json: String) throws {
        let engines = try JSONDecoder().decode([KnownEngine].self, from: Data(json.utf8))
        met.withLock { $0 += engines.map { ("", $0) } }
    }

    /// Remarks of engines by the name of the driver; nil if there are none.
    static var remarks: [String: [String]]? {
        let pairs = all.map { ($0.name, $0.remarks) }
        return pairs.isEmpty ? nil : Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// Whether an argument of `--driver` that names no driver is a command or a file.
    static func isCommand(_ argument: String) -> Bool {
        argument.contains(" ") || argument.contains("/") || isFile(argument)
    }

    private static func isFile(_ argument: String) -> Bool {
        !argument.contains(" ") && (argument.hasSuffix(".yaml") || argument.hasSuffix(".yml"))
    }

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
            try add(engine, argument)
            return engine.name
        }
    }

    /// Starts the engines of a commit once, in its folder, and asks them for their facts.
    /// - Parameter names: names in place of the engines' own, so that both sides of a comparison have the same.
    /// - Throws: a `Refusal` that says what is wrong with an engine, or an exit after the problems of a file.
    static func meet(_ arguments: [String], in folder: String, names: [String]? = nil) throws -> [KnownEngine] {
        try arguments.enumerated().map { index, argument in
            var program = try program(argument, in: folder)
            if let names { program.name = names[index] }
            do {
                return try KnownEngine(meeting: program)
            } catch {
                throw Refusal(description: "--driver '\(argument)' in \(folder): \(error)")
            }
        }
    }

    /// Adds an engine to the drivers.
    static func add(_ engine: KnownEngine, _ argument: String) throws {
        guard !Drivers.names.contains(engine.name) else {
            throw ValidationError(
                "--driver '\(argument)': another driver has the name '\(engine.name)' too: give it one of its own by a file (name: …, command: …)"
            )
        }
        met.withLock { $0.append((argument, engine)) }
    }

    /// - Parameter folder: folder that a command starts in and a file is relative to; nil: that of this process.
    private static func program(_ argument: String, in folder: String? = nil) throws -> EngineProgram {
        guard isFile(argument) else { return EngineProgram(command: argument, folder: folder) }
        let path = argument.hasPrefix("/") ? argument : folder.map { "\($0)/\(argument)" } ?? argument
        let file = try refusing(try EngineFile.read(path: path))
        return EngineProgram(
            command: file.command, name: file.name, environment: file.environment, folder: file.folder)
    }
}
