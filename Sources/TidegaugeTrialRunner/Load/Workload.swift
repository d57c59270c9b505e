// A recorded workload in the words of the harness, which has one table. Each table of the recording has a band of the scores
// of that one, as wide as any other's; a query over it is a range at the band's upper end, and a row that moves goes to another
// place of its band. Pure.
import TidegaugeDriver
import TidegaugeSpec

extension WorkloadSpec {
    /// All upper parts of scores.
    private static let scoreCount: Int64 = 1 << 31

    /// The upper parts of the scores of a table.
    private func band(_ table: Int) -> Range<Int64> {
        let count = Int64(rows.count)
        return Self.scoreCount * Int64(table) / count..<Self.scoreCount * Int64(table + 1) / count
    }

    /// - Parameter drawn: in [0, 1).
    func upper(of table: Int, _ drawn: Double) -> UInt64 {
        let band = band(table)
        return UInt64(band.lowerBound + Int64(drawn * Double(band.count)))
    }

    /// The table of a row that is there at first. Those that a dataset has beside the recording's are dealt out.
    func table(ofRow index: Int) -> Int {
        var rest = index
        for (table, count) in rows.enumerated() {
            if rest < count { return table }
            rest -= count
        }
        return rest % rows.count
    }

    func query(_ watch: Watch) -> Query {
        let band = band(watch.table)
        let lower = band.upperBound - Int64((watch.share * Double(band.count)).rounded())
        let order: Query.Order =
            switch watch.order {
            case .ascending: .scoreAscending
            case .descending: .scoreDescending
            case .none: .none
            }
        return Query(scores: Score.bound(lower)..<Score.bound(band.upperBound), order: order)
    }
}
