// The first commits of a history, made by a process that kills itself when the last one has returned. Another process
// then opens the store again.
import Glibc
import TidegaugeDriver

package struct KilledCommits: Sendable {
    private let history: ConformHistory
    private let driver: any StoreDriver
    private let commits: [[Change]]

    /// - Parameter count: number of commits; nil: all.
    package init(seed: UInt64, on driver: any StoreDriver, count: Int? = nil) {
        self.driver = driver
        history = HistoryGenerator.history(seed: seed, driver.capabilities)
        let all = history.steps.flatMap { step -> [[Change]] in
            switch step {
            case .commit(let changes): [changes]
            case .together(let writers, _): writers.flatMap { $0 }
            case .subscribe, .cancel, .settle, .kill: []
            }
        }
        commits = Array(all.prefix(count ?? all.count))
    }

    package var count: Int { commits.count }

    /// The commits, one after the other, and the kill as a history.
    var shown: ConformHistory {
        var shown = history
        shown.durability = durability
        shown.steps = commits.map { .commit($0) } + [.kill]
        return shown
    }

    /// The weakest durability that survives a killed process.
    private var durability: DurabilityLevel { driver.capabilities.durabilities.contains(.relaxed) ? .relaxed : .full }

    private func open(_ folder: String) throws -> any DrivenStore {
        try driver.open(StoreConfiguration(directory: folder, durability: durability))
    }

    /// Loads the rows and makes the commits in an empty folder, and kills this process.
    package func makeAndDie(in folder: String) throws -> Never {
        let store = try open(folder)
        try store.load(count: history.rows.count) { history.rows[$0] }
        let writer = try store.makeWriter()
        for changes in commits {
            do {
                _ = try changes.withUnsafeBufferPointer { try writer.commit($0, locked: {}) }
            } catch is MissingItem {
                // One of the history's failing commits.
            }
        }
        kill(getpid(), SIGKILL)
        while true { pause() }
    }

    /// Opens the store of the killed process.
    /// - Returns: how its rows differ from the commits, or nil.
    func loss(in folder: String) throws -> String? {
        let store = try open(folder)
        var table = ConformTable(history.rows)
        for changes in commits { _ = table.apply(changes) }
        let found = Result { try store.contents(of: Query()) }
        try store.close()
        return Convergence.difference(table.found(by: Query()), try found.get(), .none, store)
    }
}
