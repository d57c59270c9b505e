// Which specs a binary reads: asked before it is sent any, because it may be of another commit.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

/// What a binary says of its `trial` command.
public struct TrialProtocol: Codable, Sendable, Equatable {
    public var specVersion: Int
    public var drivers: [String]

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
        let answer = try output(of: path, ["trial", "--protocols"])
        do {
            return try JSONDecoder().decode(TrialProtocol.self, from: answer)
        } catch {
            throw Refusal(
                description:
                    "\(path) does not say which trial specs it reads (\(error)): build it at commit 0f28f9de or later")
        }
    }

    private static func output(of path: String, _ arguments: [String]) throws -> Data {
        do {
            return Data(try Subprocess.run(path, arguments, input: "").output)
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
