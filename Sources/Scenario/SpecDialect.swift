// A spec in the words of an older binary. JSON decoders pass over keys that they do not know, so a question that the older
// version cannot ask would be answered as another one: such a spec is refused here, before it is sent. Pure.
import Foundation

public enum SpecDialect {
    /// Keys that a version has added or widened, by their path, and the values that ask nothing which was not there before.
    static let additions: [Int: [String: Set<String>]] = [
        3: [
            "dataset.links": ["0"], "dataset.neighbour": ["none"], "observers.sort": ["none", "score", "-score"],
            "observers.subscribe": ["idle", "locked"], "observers.audit": ["none"], "observers.pins": ["0"],
            "observers.operators": ["0"], "writers.process": ["same"],
            "writers.arrivals": ["uniform", "poisson", "bursts"],
            "writers.keys": ["uniform", "matching"], "writers.changes.move": [], "fault.kind": ["none"],
        ],
        4: ["turns": []],
        5: ["observers.churn": []],
    ]

    /// Drivers that have another name since a version: the older one by today's.
    private static let renamedDrivers: [Int: [String: String]] = [5: ["noop": "null"]]

    /// What a binary of `version` calls the driver that is `name` here.
    public static func driver(_ name: String, version: Int) -> String {
        renamedDrivers.filter { $0.key > version }.sorted { $0.key > $1.key }.reduce(name) { $1.value[$0] ?? $0 }
    }

    /// The oldest version whose specs mean the same as today's, additions apart.
    static let oldestVersion = 2

    /// Why a binary of `version` cannot be asked, as the end of a sentence.
    public struct Refusal: Error, CustomStringConvertible, Equatable {
        public var description: String
    }

    /// `spec` as JSON for a binary that reads specs of `version`.
    public static func json(_ spec: TrialSpec, version: Int) throws(Refusal) -> Data {
        guard version <= TrialSpec.currentVersion else {
            throw Refusal(
                description: "it reads trial specs of version \(version), this tidegauge writes up to "
                    + "\(TrialSpec.currentVersion): use the newer one to compare")
        }
        guard version >= oldestVersion else {
            throw Refusal(description: "it reads trial specs of version \(version), too old to be asked the same")
        }
        var spec = spec
        spec.specVersion = version
        spec.driver = driver(spec.driver, version: version)
        if let endings = spec.choreography?.endings {
            let named = endings.map { (driver($0.key, version: version), $0.value) }
            spec.choreography?.endings = Dictionary(uniqueKeysWithValues: named)
        }
        guard let data = try? JSONEncoder().encode(spec),
            let tree = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { throw Refusal(description: "its trial spec cannot be written") }
        for (since, keys) in additions where since > version {
            for (path, known) in keys.sorted(by: { $0.key < $1.key }) {
                let value = path.split(separator: ".").reduce(tree as Any?) { tree, key in
                    (tree as? [String: Any])?[String(key)]
                }
                if let value, !known.contains("\(value)") {
                    throw Refusal(description: "it is older than '\(path)': \(value)")
                }
            }
        }
        return data
    }
}
