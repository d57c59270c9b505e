// What a process beside the trial's own is told: one line of JSON on its standard input. It answers by lines too: `ready`
// when it has the store open and could begin, `done` with what it has to say when it is through.
import Foundation
import Scenario
import StoreDriver

struct HelperOrder: Codable, Sendable {
    enum Role: Codable, Sendable {
        /// Commits what writer `index` would, into a file of records, from the due time after so many.
        case writer(index: Int, dueTimesDone: Int, records: String)
        /// Observes the first query until it is killed.
        case observer
    }

    var spec: TrialSpec
    var role: Role
    var storeDirectory: String
}

extension StoreConfiguration {
    /// As a trial asks for it.
    init(_ spec: TrialSpec, directory: String) {
        self.init(
            directory: directory, durability: DurabilityLevel(rawValue: spec.durability)!,
            keys: KeyKind(rawValue: spec.dataset.keys.rawValue)!, links: spec.dataset.links,
            hasList: spec.observers.sort == .list, operators: spec.observers.operators,
            readsFirst: spec.observers.subscribe == .readFirst)
    }
}
