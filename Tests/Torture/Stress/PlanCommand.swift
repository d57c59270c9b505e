// Prints what a seed decides: the plan, the observers of each site, and the rows that the writers leave if they write
// one after the other. Two runs with one seed print the same.
import ArgumentParser
import Foundation
import StillingWell
import StillingWellTortureSupport

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Prints what a seed decides, without a run.")

    @Option(help: "The seed.")
    var seed: UInt64

    @Option(help: "How many commits each writer makes, one writer after the other.")
    var commits = 40

    func run() throws {
        let plan = Plan(seed: seed)
        print(
            """
            seed \(seed): \(plan.durabilityText), \(plan.localWriters) local and \(plan.foreignWriters) foreign writers
            keys: \(plan.smallKeys) small, \(plan.largeKeys) large, \(plan.boardKeys) boards
            """)
        for query in plan.queries { print("query: \(query)") }
        for (number, site) in plan.sites.enumerated() {
            print("site \(number): \(site)")
            for made in 0..<(2 * site.viewCount) {
                print("site \(number), observer \(made): \(ObserverPlan(plan, site: number, number: made))")
            }
        }
        try printContent(plan)
    }

    /// Prints the rows after all writers have committed, each with its own random stream.
    private func printContent(_ plan: Plan) throws {
        let folder = try ScratchFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let load = try Load(plan, path: folder)
        try load.fill()
        let writers =
            (0..<plan.localWriters).map { ("local writer \($0)", plan.localWriter($0)) }
            + plan.sites.indices.map { ("site \($0)", plan.siteWriter($0)) }
            + (0..<plan.foreignWriters).map { ("foreign writer \($0) life 0", plan.foreignWriter($0)) }
        for (actor, number) in writers {
            var random = plan.random(actor)
            let commit = Commit(writer: number, plan: plan)
            for _ in 0..<commits { try load.store.write { try commit.make($0, &random) } }
        }
        try load.store.read { connection in
            for table in [TableSize.small, .large] {
                for row in try Scan.rows(table, connection) { print("\(table) row \(row)") }
            }
            for board in try connection.objects(Board.self) { print("board \(BoardValue(board))") }
        }
    }
}
