// The data that the processes of a test write: counters, and batches of two rows. A batch is inserted and counted in
// one transaction, so a torn, lost or repeated commit can be detected.
import Dispatch
import StillingWell

public final class Counter: StoredObject {
    @Stored(.primaryKey) public var name = ""
    @Stored public var value = 0
}

/// One of the two rows of a batch. Their amounts add up to `Batches.sum`.
public final class Half: StoredObject {
    @Stored(.primaryKey) public var key = 0
    @Stored public var amount = 0
}

public enum Batches {
    public static let models: [StoredObject.Type] = [Counter.self, Half.self]
    public static let sum = 1_000

    /// Increments a counter. Must be called inside a write.
    /// - Returns: the new value.
    @discardableResult
    public static func increment(_ name: String, _ connection: Connection) throws -> Int {
        if let counter = try connection.object(Counter.self, forPrimaryKey: name) {
            counter.value += 1
            return counter.value
        }
        let counter = Counter()
        counter.name = name
        counter.value = 1
        try connection.add(counter)
        return 1
    }

    /// Spins for `us` microseconds, inside a write to prolong it.
    public static func spend(us: Int) {
        let end = DispatchTime.now().uptimeNanoseconds + UInt64(us) * 1_000
        while DispatchTime.now().uptimeNanoseconds < end {}
    }

    public static func value(_ name: String, _ connection: Connection) throws -> Int {
        try connection.object(Counter.self, forPrimaryKey: name)?.value ?? 0
    }

    /// Adds the next batch. Must be called inside a write.
    /// - Returns: the number of batches ever added.
    @discardableResult
    public static func insert(_ connection: Connection) throws -> Int {
        let count = try increment("batches", connection)
        let amount = (count * 37) % sum
        for (key, amount) in [(2 * count - 2, amount), (2 * count - 1, sum - amount)] {
            let half = Half()
            half.key = key
            half.amount = amount
            try connection.add(half)
        }
        return count
    }

    /// Deletes the batch with this number, counted from 0. Must be called inside a write.
    public static func delete(_ batch: Int, _ connection: Connection) throws {
        for key in [2 * batch, 2 * batch + 1] {
            if let half = try connection.object(Half.self, forPrimaryKey: key) { try connection.delete(half) }
        }
    }

    /// Checks that exactly the batches from `first` on exist, and are whole. Returns the first problem, or nil.
    public static func violation(from first: Int, _ connection: Connection) throws -> String? {
        let count = try value("batches", connection)
        let halves = try connection.objects(Half.self).map { (key: $0.key, amount: $0.amount) }
        guard halves.map(\.key) == Array(2 * first..<2 * count) else {
            return "expected the rows \(2 * first)..<\(2 * count), found \(halves.map(\.key))"
        }
        for index in stride(from: 0, to: halves.count, by: 2)
        where halves[index].amount + halves[index + 1].amount != sum {
            return "the batch of rows \(halves[index]) and \(halves[index + 1]) is torn"
        }
        return nil
    }
}
