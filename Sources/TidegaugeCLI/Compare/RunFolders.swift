// Two finished runs, compared for what they are worth: they were measured one after the other, so whatever the machine did in
// between is in one side alone. Nothing of it is ever called a regression.
import Comparison
import Foundation
import Measure
import Report
import Runs

struct RunFolders {
    private let base: RunRecord
    private let head: RunRecord

    static func isRun(_ path: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(Journal.fileName)") }

    /// - Throws: `DamagedReport`.
    init(base: String, head: String) throws {
        self.base = try RunRecord.load(base)
        self.head = try RunRecord.load(head)
    }

    func compare() throws -> Outcome {
        let rows = WeakComparison.rows(base: base, head: head)
        print(ComparisonConsole.weak(rows, base, head), terminator: "")
        return rows.contains { $0.isGate && $0.verdict == .inconclusive } ? .inconclusive : .pass
    }
}
