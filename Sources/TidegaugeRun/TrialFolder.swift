// The two folders of a trial: one for its result and log, in the run's own; one for the store, on a memory file system
// where the store is to live in memory. The parent makes and removes them, because a killed child cannot; what is left of a
// killed parent, the next one sweeps.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

struct TrialFolder {
    let results: String
    /// Of one length for both sides of a pair, as everything is that a process is told.
    private let ownStore: PrivateFolder

    /// Below the private folder, which is locked: an engine may lock the one that it is given.
    var store: String { "\(ownStore.path)/store" }

    /// - Parameter parent: the run's folder for trials, made if it is not there.
    init(in parent: String, number: Int, _ spec: TrialSpec) throws {
        results = "\(parent)/\(number)"
        try FileManager.default.createDirectory(atPath: results, withIntermediateDirectories: true)
        let isMemory = spec.durability == DurabilityLevel.memory.rawValue
        ownStore = try PrivateFolder(in: isMemory ? PrivateFolder.memoryPlace : results)
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: false)
    }

    var resultPath: String { "\(results)/\(TrialResult.fileName)" }
    var logPath: String { "\(results)/log" }

    func removeStore() { ownStore.remove() }
    func removeResults() { try? FileManager.default.removeItem(atPath: results) }

    /// What a child that stopped itself said last about it; nil where it said nothing.
    func reasonOfTrap() -> String? {
        let words = ["Fatal error", "BUG IN CLIENT", "Program crashed"]
        return log.first { line in words.contains { line.contains($0) } }?.filter { $0 != "\u{1B}" }
    }

    /// The last lines the child wrote, for people.
    func logTail() -> [String] { Array(log.suffix(6)) }

    private var log: [String] {
        ((try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }
}
