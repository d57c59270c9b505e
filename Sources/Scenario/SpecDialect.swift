// A spec in the words of an older binary. JSON decoders pass over keys that they do not know, so a question that the older
// version cannot ask would be answered as another one: such a spec is refused here, before it is sent. Pure.
import Foundation

public enum SpecDialect {
    /// Drivers that have another name since a version: the older one by today's.
    private static let renamedDrivers: [Int: [String: String]] = [5: ["noop": "null"]]

    /// What a binary of `version` calls the driver that is `name` here.
    public static func driver(_ name: String, version: Int) -> String {
        renamedDrivers.filter { $0.key > version }.sorted { $0.key > $1.key }.reduce(name) { $1.value[$0] ?? $0 }
    }

    /// What no key asks for: the version that brought the turns of a comparison.
    private static let turnsSince = 4
    /// The one that brought counted trials.
    private static let countSince = 6
    /// The one that brought commits that wait.
    private static let waitSince = 6

    /// The one that brought recorded workloads.
    private static let workloadSince = 7

    /// The oldest version whose specs mean the same as today's, additions apart.
    static let oldestVersion = 2

    /// Why a binary of `version` cannot be asked, as the end of a sentence.
    public struct Refusal: Error, CustomStringConvertible, Equatable {
        public var description: String
    }

    /// `spec` as JSON for a binary that reads specs of `version`; the same bytes each time, by which its counts are found again.
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
        if version < turnsSince, spec.turns != nil { throw Refusal(description: "it is older than 'turns'") }
        if version < countSince, spec.count != nil { throw Refusal(description: "it is older than counted trials") }
        if version < workloadSince, spec.workload != nil { throw Refusal(description: "it is older than workloads") }
        if version < waitSince, spec.shim?.waitShare != nil { throw Refusal(description: "it is older than 'wait'") }
        let point = SweepPoint(spec: spec)
        for setting in Setting.allCases {
            let value = setting.row.read(point)
            guard setting.row.since(of: value) > version, value != setting.row.read(.defaults) else { continue }
            throw Refusal(description: "it is older than '\(setting.rawValue)': \(value.text)")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(spec) else {
            throw Refusal(description: "its trial spec cannot be written")
        }
        return data
    }
}
