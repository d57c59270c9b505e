// Spec version and drivers of a binary, queried before it is given a spec, because it may be of another commit.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

/// The answer of a binary to `trial --protocols`.
public struct TrialProtocol: Codable, Sendable, Equatable {
    public var specVersion: Int
    public var drivers: [String]

    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return try encoder.encode(self)
    }

    /// Error for a file that is not a comparable binary.
    public struct Refusal: Error, CustomStringConvertible {
        public var description: String
    }

    /// Queries the binary at `path`.
    /// - Throws: `Refusal` if it cannot be run or does not answer as a tidegauge does.
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
    /// The protocol of this binary.
    public init(_ drivers: [any StoreDriver]) {
        self.init(specVersion: TrialSpec.currentVersion, drivers: drivers.map(\.name))
    }
}

/// Another binary and its protocol.
public struct OtherBinary: Sendable {
    public var path: String
    public var talks: TrialProtocol
    /// Engines that run in processes of their own, as JSON for the trial; nil if there are none.
    public var engines: String?

    public init(path: String, talks: TrialProtocol, engines: String? = nil) {
        (self.path, self.talks, self.engines) = (path, talks, engines)
    }
}
