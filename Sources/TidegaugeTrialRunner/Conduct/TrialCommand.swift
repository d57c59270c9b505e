// The child's side of a trial: progress on standard output, the result in a folder.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

public enum TrialCommand {
    /// The reason why a child could not start its trial.
    public struct Refusal: Error, CustomStringConvertible {
        public var description: String
    }

    /// Runs the trial that `spec` describes and writes its result. Returns normally whatever the trial's fate.
    /// - Throws: `Refusal` if the spec cannot be read, has another version, or names an unknown driver; otherwise an
    ///   error of encoding or writing the result.
    public static func run(
        spec: Data, drivers: [any StoreDriver], resultDirectory: String, storeDirectory: String, hosts: [HostEntry] = []
    ) throws {
        let spec = try read(spec)
        guard let driver = drivers.first(where: { $0.name == spec.driver }) else {
            let names = drivers.map(\.name).joined(separator: ", ")
            throw Refusal(description: "trial spec: this binary has no driver '\(spec.driver)' (it has \(names))")
        }
        let result = Trial.run(spec, on: driver, storeDirectory: storeDirectory, hosts: hosts) { progress in
            if let line = try? JSONEncoder().encode(progress) { StandardStream.output.write(line + Data("\n".utf8)) }
        }
        let path = "\(resultDirectory)/\(TrialResult.fileName)"
        // Atomic, so that a parent that finds the file finds it complete.
        try JSONEncoder().encode(result).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private static func read(_ data: Data) throws -> TrialSpec {
        struct Version: Decodable { var specVersion: Int }
        let decoder = JSONDecoder()
        guard let version = try? decoder.decode(Version.self, from: data) else {
            throw Refusal(description: "trial spec: standard input holds no JSON object with a 'specVersion'")
        }
        guard version.specVersion == TrialSpec.currentVersion else {
            throw Refusal(
                description: "trial spec: version \(version.specVersion), this binary reads version "
                    + "\(TrialSpec.currentVersion): use a binary of the same spec version")
        }
        do {
            return try decoder.decode(TrialSpec.self, from: data)
        } catch {
            throw Refusal(description: "trial spec: \(error)")
        }
    }
}
