// Maps a recorded workload to the harness's single table. Each table of the recording has an equally wide band of
// scores. A query over it is a range at the upper end of the band, and a row that moves gets another score in its
// band. Pure.
import TidegaugeDriver
import TidegaugeSpec

extension WorkloadSpec {
    /// Number of upper parts of scores.
    private static let scoreCount: Int64 = 1 << 31

    /// Returns the upper parts of the scores of a table.
    private func band(_ table: Int) -> Range<Int64> {
        let count = Int64(rows.count)
        return Self.scoreCount * Int64(table) / count..<Self.scoreCount * Int64(table + 1) / count
    }

    /// - Parameter drawn: a random number in [0, 1).
    func upper(of table: Int, _ drawn: Double) -> UInt64 {
        let band = band(table)
        return UInt64(band.lowerBound + Int64(drawn * Double(band.count)))
    }

    /// Returns the table of an initial row. Rows beyond those of the recording are distributed round robin.
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
