// Questions of much at once: a commit of many rows, a row of many bytes, many queries that begin together.
import Foundation
import LiveStore

/// A number beside a megabyte.
final class ReadLarge: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var number = 0
    @Stored var bytes = Data()
}

extension ReadingCost {
    private static let filters = 100

    static let manyQuestions = [
        Question(name: "commit of 1 000 random rows", place: .write, operations: 200) { connection, number in
            for row in 0..<1_000 { _ = try change(connection, number * 1_000 + row) }
            return 1
        },
        Question(name: "commit of one Int in a row of 1 MB", place: .write, operations: 200) { connection, _ in
            try connection.object(ReadLarge.self, forPrimaryKey: 0)!.number += 1
            return 1
        },
        // Each has rows of its own, half of all, as those of the scenario hundred-queries.
        Question(name: "first deliveries of 100 filters, half the rows each", place: .first, operations: 40) {
            connection, _ in
            try untilAllTold { body in
                try (0..<filters).map { filter in
                    let first = rows / 10 * filter / filters
                    return try all(connection).where(\.id >= first && \.id < first + rows / 2).sorted(by: \.score)
                        .observe { _ in body() }
                }
            }
        },
    ]

    static func addLarge(_ connection: Connection) throws {
        let large = ReadLarge()
        large.bytes = Data(repeating: 7, count: 1 << 20)
        try connection.add(large)
    }
}
