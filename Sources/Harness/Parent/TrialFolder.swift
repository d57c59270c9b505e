// The two folders of a trial: one for its result and log, in the run's own; one for the store, on a memory file system
// where the store is to live in memory. The parent makes and removes them, because a killed child cannot.
import Foundation
import Scenario
import StoreDriver
import Synchronization

struct TrialFolder {
    private static let memoryFileSystem = "/dev/shm"
    /// Stores of this process so far: two trials may run at a time.
    private static let stores = Atomic<Int>(0)

    let results: String
    let store: String

    /// - Parameter parent: the run's folder for trials, made if it is not there.
    init(in parent: String, number: Int, _ spec: TrialSpec) throws {
        results = "\(parent)/\(number)"
        let isMemory = spec.durability == Durability.memory.rawValue
        let hasMemory = FileManager.default.isWritableFile(atPath: Self.memoryFileSystem)
        let place = isMemory ? (hasMemory ? Self.memoryFileSystem : NSTemporaryDirectory()) : results
        // Of one length for both sides of a pair, as everything is that a process is told.
        let index = "\(1_000_000 + Self.stores.add(1, ordering: .relaxed).newValue)"
        store = "\(place)/tidegauge-\(getpid())-\(index)"
        try FileManager.default.createDirectory(atPath: results, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    }

    var resultPath: String { "\(results)/\(TrialCommand.resultName)" }
    var logPath: String { "\(results)/log" }

    func removeStore() { try? FileManager.default.removeItem(atPath: store) }
    func removeResults() { try? FileManager.default.removeItem(atPath: results) }

    /// What a child that stopped itself said last about it; nil where it said nothing.
    func reasonOfTrap() -> String? {
        let text = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n").map(String.init)
        let words = ["Fatal error", "BUG IN CLIENT", "Program crashed"]
        return lines.first { line in words.contains { line.contains($0) } }?.filter { $0 != "\u{1B}" }
    }

    /// The last lines the child wrote, for people.
    func logTail(lines: Int = 6) -> [String] {
        let text = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(lines).map(String.init)
    }
}
