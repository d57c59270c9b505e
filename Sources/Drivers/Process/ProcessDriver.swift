// Drivers of engines in processes of their own. The command line makes them: there is one for each `--driver` that is a
// command or a file.
import TidegaugeDriver

/// The drivers of this module. `drivers.txt` names them: none, because each is made of a command.
public let allDrivers: [any StoreDriver] = []

/// An engine that has answered once. The process of a trial gets it as JSON.
public struct KnownEngine: Codable, Sendable {
    let program: EngineProgram
    let introduction: EngineIntroduction

    /// Time limit in ns for the answers to `hello` and `close`, and for the end of the process.
    private static let introductionLimitNs: Int64 = 20_000_000_000
    private static let longestName = 40

    /// Starts the program, asks it for its facts and ends it.
    /// - Throws: an error whose description says what is wrong with it.
    public init(meeting program: EngineProgram) throws {
        let link = try EngineLink(program, silenceLimitNs: Self.introductionLimitNs, logs: false)
        do {
            let introduction = try EngineIntroduction(try ProcessStore.hello(link))
            try link.close()
            (self.program, self.introduction) = (program, introduction)
        } catch {
            // The engine is ended or killed here. The first error counts.
            try? link.close()
            throw error
        }
        guard Self.isName(name) else {
            throw ProcessFailure(
                .facts,
                "its name '\(name)' must have at most \(Self.longestName) lower-case letters, digits, '-' and '.', and begin with a letter"
            )
        }
    }

    private static func isName(_ name: String) -> Bool {
        let isMadeOfThese = name.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E
        }
        return isMadeOfThese && name.utf8.count <= longestName && name.first?.isLetter == true
    }

    /// Name of its driver.
    public var name: String { program.name ?? introduction.name }

    /// Remarks for people: versions of the engine and its runtime, its own remarks, and `unchecked`.
    public var remarks: [String] { introduction.engineFacts.remarks }

    /// A phrase that names what the harness cannot check because of the engine's facts; nil if there is nothing.
    public var unchecked: String? { introduction.unchecked }

    public var driver: any StoreDriver {
        introduction.facts.contents ?? true ? ProcessDriver(engine: self) : RowlessProcessDriver(engine: self)
    }
}

private struct ProcessDriver: StoreDriver {
    let engine: KnownEngine

    var name: String { engine.name }
    var facts: EngineFacts { engine.introduction.engineFacts }

    func open(_ configuration: StoreConfiguration) throws -> ProcessStore { try ProcessStore(engine, configuration) }
}

private struct RowlessProcessDriver: StoreDriver {
    let engine: KnownEngine

    var name: String { engine.name }
    var facts: EngineFacts { engine.introduction.engineFacts }

    func open(_ configuration: StoreConfiguration) throws -> RowlessProcessStore {
        RowlessProcessStore(try ProcessStore(engine, configuration))
    }
}
