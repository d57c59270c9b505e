// The two folders of a trial: one for its result and log below the run's folder, and one for the store, on a memory
// file system, if there is one, for `memory` stores. The parent creates and removes them, because a killed child
// cannot. Store folders of a killed parent are removed by the next process that makes one in the same place.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

struct TrialFolder {
    let results: String
    private let ownStore: PrivateFolder

    /// A subfolder of the private folder, which is locked: an engine may lock the folder that it is given.
    var store: String { "\(ownStore.path)/store" }

    /// - Parameter parent: the run's folder for trials, created if missing.
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

    /// Returns the message of a child that trapped, or nil.
    func reasonOfTrap() -> String? {
        let words = ["Fatal error", "BUG IN CLIENT", "Program crashed"]
        return log.first { line in words.contains { line.contains($0) } }?.filter { $0 != "\u{1B}" }
    }

    /// Returns the last 6 lines of the child's log.
    func logTail() -> [String] { Array(log.suffix(6)) }

    private var log: [String] {
        ((try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }
}
