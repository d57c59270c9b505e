// A spec in the words of an older binary. JSON decoders pass over keys that they do not know, so a question that the older
// version cannot ask would be answered as another one: such a spec is refused here, before it is sent. Pure.
import Foundation

public enum SpecDialect {
    /// Names of drivers by the version that renamed them: the older name by the newer one.
    static let renamedDrivers: [Int: [String: String]] = [13: ["stillingwell": "livestore"]]

    /// Name of a driver in binaries that read specs of `version`.
    public static func driver(_ name: String, version: Int) -> String {
        driver(name, version: version, renamed: renamedDrivers)
    }

    static func driver(_ name: String, version: Int, renamed: [Int: [String: String]]) -> String {
        renamed.filter { $0.key > version }.sorted { $0.key > $1.key }.reduce(name) { $1.value[$0] ?? $0 }
    }

    /// Why a binary of `version` cannot be asked, as the end of a sentence.
    public struct Refusal: Error, CustomStringConvertible, Equatable {
        public var description: String
    }

    /// `spec` as JSON for a binary that reads specs of `version`; the same bytes each time, by which its counts are found again.
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
