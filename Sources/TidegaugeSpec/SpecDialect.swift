// Encodes a spec for an older binary. JSON decoders skip unknown keys, so an older binary would silently run another
// trial. A spec that uses newer keys is therefore refused before it is sent. Pure.
import Foundation

public enum SpecDialect {
    /// Older name of a driver by its newer name, keyed by the version that renamed it.
    static let renamedDrivers: [Int: [String: String]] = [13: ["stillingwell": "livestore"]]

    /// Returns the name of a driver in binaries that read specs of `version`.
    public static func driver(_ name: String, version: Int) -> String {
        driver(name, version: version, renamed: renamedDrivers)
    }

    static func driver(_ name: String, version: Int, renamed: [Int: [String: String]]) -> String {
        renamed.filter { $0.key > version }.sorted { $0.key > $1.key }.reduce(name) { $1.value[$0] ?? $0 }
    }

    /// Reason why a binary cannot run a spec, as the end of a sentence.
    public struct Refusal: Error, CustomStringConvertible, Equatable {
        public var description: String
    }

    /// Encodes `spec` as JSON for a binary that reads specs of `version`. The bytes are deterministic, because cached
    /// counts are keyed by them.
    public static func json(_ spec: TrialSpec, version: Int) throws(Refusal) -> Data {
        try json(spec, version: version, youngerKeys: TrialSpec.youngerKeys)
    }

    static func json(
        _ spec: TrialSpec, version: Int, youngerKeys: TrialSpec.YoungerKeys
    ) throws(Refusal) -> Data {
        guard version <= TrialSpec.currentVersion else {
            throw Refusal(
                description: "it reads trial specs of version \(version), this tidegauge writes up to "
                    + "\(TrialSpec.currentVersion): use the newer one to compare")
        }
        guard version >= TrialSpec.oldestVersion else {
            throw Refusal(
                description:
                    "it reads trial specs of version \(version), this tidegauge writes \(TrialSpec.oldestVersion) or newer: "
                    + "use the tidegauge of commit 0f28f9de to compare")
        }
        var spec = spec
        spec.specVersion = version
        spec.driver = driver(spec.driver, version: version)
        if let endings = spec.choreography?.endings {
            let named = endings.map { (driver($0.key, version: version), $0.value) }
            spec.choreography?.endings = Dictionary(uniqueKeysWithValues: named)
        }
        for (key, since, text) in youngerKeys where since > version {
            guard let text = text(spec) else { continue }
            throw Refusal(description: "it is older than '\(key.rawValue)': \(text)")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(spec) else {
            throw Refusal(description: "its trial spec cannot be written")
        }
        return data
    }
}
