// Reads of an application in a callback: those of shown rows through the results, the others in a read block.
import StillingWell
import TidegaugeDriver

extension Results where Object: DrivenRow {
    /// Returns a function that answers questions about these results of a query. Call it on their delivery context.
    func answers(to query: Query) -> (ReadQuestion) throws -> ReadAnswer {
        { [self] question in
            switch question {
            case .lookup(let key): try read { try Self.looked(key, query, $0) }
            case .count: try read { Int64(Object.results(query, try $0.objects(Object.self)).count) }
            case .countWhere(let condition):
                try read { Int64(try $0.objects(Object.self).where(Object.filter(condition)).count) }
            case .sum: shown(Int64(sum(\.stamp)))
            case .window: shown(window())
            case .iterate: shown(reduce(0) { $0 &+ Int64($1.stamp) })
            }
        }
    }

    private func read(_ value: (Connection) throws -> Int64) throws -> ReadAnswer {
        try connection.store.read { ReadAnswer(try value($0), at: Int64($0.version)) }
    }

    private func shown(_ value: Int64) -> ReadAnswer { ReadAnswer(value, at: Int64(connection.version)) }

    private static func looked(_ key: Int64, _ query: Query, _ connection: Connection) throws -> Int64 {
        guard let row = try connection.object(Object.self, forPrimaryKey: Object.primaryKey(key)) else {
            return ReadAnswer.noRow
        }
        return query.looked(key, score: Int64(row.score), stamp: Int64(row.stamp))
    }

    private func window() -> Int64 {
        var sum: Int64 = 0
        for index in 0..<Swift.min(count, ReadAnswer.windowRows) {
            let row = self[index]
            ReadAnswer.add(score: Int64(row.score), stamp: Int64(row.stamp), to: &sum)
        }
        return sum
    }
}
