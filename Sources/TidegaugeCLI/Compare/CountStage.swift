// Counts all points of a comparison before any pair, on all cores in parallel, as counts ignore other load.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeRun
import TidegaugeSpec

struct CountStage {
    let counter: InstructionCounter
    let binaries: (base: OtherBinary, head: OtherBinary)
    /// Folder for trials. Failed ones leave their log there.
    let folder: String
    let interruption: Interruption

    /// Counts every point that has a counted form on both sides.
    /// - Parameters:
    ///   - known: rows from an interrupted stage.
    ///   - began: called with each point's title, number and total before its rows are awaited.
    ///   - keep: called with the rows of each counted point in the order of the plan, and the texts of their files.
    /// - Returns: points that were not counted, or not completely, with the reason.
    func run(
        _ plan: ComparisonPlan, known: [CountedRow], began: (String, Int, Int) -> Void,
        keep: ([CountedRow], [String: String]) throws -> Void
    ) throws -> [OneSided] {
        let points = plan.subjects.flatMap { subject in
            subject.points.map { point in
                (title: subject.title(of: point), spec: point)
            }
        }
        .filter { point in !known.contains { $0.title == point.title } }
        var apart: [OneSided] = []
        let cores = min(ProcessInfo.processInfo.activeProcessorCount, points.count)
        let folders = (0..<cores).map { "\(folder)/\($0)" }
        let crew = Crew(points.count, hands: cores) { hand in
            let point = PointCounter(counter, plan, binaries, folder: folders[hand], interruption)
            return { index in point.count(points[index].spec, points[index].title) }
        }
        defer {
            crew.dismiss()
            let emptied = folders.flatMap { ["\($0)/base", "\($0)/head", $0] } + [folder]
            for folder in emptied { try? removeIfEmpty(folder) }
        }
        for (index, point) in points.enumerated() where !interruption.isRaised {
            began(point.title, index + 1, points.count)
            let counted = crew.result(index)
            if interruption.isRaised { break }
            if let why = counted.obstacle {
                apart.append(OneSided(what: "\(point.title), counted", why: why))
            }
            if !counted.rows.isEmpty { try keep(counted.rows, counted.files) }
        }
        return apart
    }
}
