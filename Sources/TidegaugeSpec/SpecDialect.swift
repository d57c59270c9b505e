// Encodes a spec for an older binary. JSON decoders skip unknown keys, so an older binary would silently run another
// trial. A spec that uses newer keys is therefore refused before it is sent. Pure.
import Foundation

public enum SpecDialect {
    /// Returns the name of a driver in binaries that read specs of `version`.
    public static func driver(_ name: String, version: Int) -> String {
        RenamedWords.name(name, in: RenamedWords.drivers, version: version)
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
        spec.measure = spec.measure.map { RenamedWords.name($0, in: RenamedWords.metrics, version: version) }
        if let endings = spec.interleaving?.endings {
            let named = endings.map { (driver($0.key, version: version), $0.value) }
            spec.interleaving?.endings = Dictionary(uniqueKeysWithValues: named)
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
