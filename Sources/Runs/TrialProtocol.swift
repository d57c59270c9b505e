// Which specs a binary reads: asked before it is sent any, because it may be of another commit, and older than the question.
import Foundation
import Measure
import Scenario
import StoreDriver

/// What a binary says of its `trial` command.
public struct TrialProtocol: Codable, Sendable, Equatable {
    public var specVersion: Int
    /// nil: too old to say.
    public var drivers: [String]?

    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return try encoder.encode(self)
    }

    /// Why a file is no binary to compare.
    public struct Refusal: Error, CustomStringConvertible {
        public var description: String
    }

    /// Asks the binary at `path`.
    /// - Throws: `Refusal` where it does not answer as a tidegauge does.
    public static func ask(_ path: String) throws -> TrialProtocol {
        let answer = try run(path, ["trial", "--protocols"], "").output
        if let known = try? JSONDecoder().decode(TrialProtocol.self, from: Data(answer.utf8)) { return known }
        // Before there was a way to ask, a spec of a version that never was made it say which one it reads.
        let refusal = try run(path, ["trial", "--result-dir", ".", "--store-dir", "."], "{\"specVersion\":-1}").errors
        guard let sentence = refusal.range(of: "this binary reads version "),
            let version = Int(refusal[sentence.upperBound...].prefix { $0.isNumber })
        else { throw Refusal(description: "\(path) is no tidegauge: it has no 'trial' command") }
        return TrialProtocol(specVersion: version)
    }

    private static func run(
        _ path: String, _ arguments: [String], _ text: String
    ) throws -> (output: String, errors: String) {
        do {
            let ran = try Subprocess.run(path, arguments, input: text)
            return (String(decoding: ran.output, as: UTF8.self), String(decoding: ran.errors, as: UTF8.self))
        } catch {
            throw Refusal(description: "\(path) cannot be run: \(error)")
        }
    }
}

extension TrialProtocol {
    /// Of this binary.
    public init(_ drivers: [any StoreDriver]) {
        self.init(specVersion: TrialSpec.currentVersion, drivers: drivers.map(\.name))
    }
}

/// A binary that is not this one, and what it understands.
public struct OtherBinary: Sendable {
    public var path: String
    public var talks: TrialProtocol

    public init(path: String, talks: TrialProtocol) { (self.path, self.talks) = (path, talks) }
}
