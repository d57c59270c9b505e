// Tests of constants in query texts against properties of lower precision.
import Testing

@testable import StillingWell

@Suite("Constants in the text of a query, as the property has them")
struct FloatTextTests {
    private let test: TestStore

    init() throws {
        test = try TestStore([Gauge.self], durability: .memory)
        try test.store.write { connection in
            for n in 0..<10 {
                let gauge = Gauge()
                gauge.level = Float(n) / 10
                gauge.spare = n == 3 ? nil : Float(n) / 10
                gauge.exact = Double(n) / 10
                gauge.small = Int8(n)
                gauge.levels.append(Float(n) / 10)
                gauge.next = try connection.objects(Gauge.self).last
                try connection.add(gauge)
            }
        }
    }

    private func expectSame(_ text: String, _ arguments: (any QueryArgument)?..., as filter: Filter<Gauge>) throws {
        try test.store.read { connection in
            let gauges = try connection.objects(Gauge.self)
            let expected = gauges.where(filter).map(\.small)
            #expect(try gauges.refined(by: text, arguments).map(\.small) == expected, "\(text)")
            #expect(!expected.isEmpty, "\(text)")
        }
    }

    @Test("a Float is compared with the nearest Float")
    func nearest() throws {
        try expectSame("level == 0.3", as: \.level == 0.3)
        try expectSame("0.3 == level", as: \.level == 0.3)
        try expectSame("level != 0.3", as: \.level != 0.3)
        try expectSame("level <= 0.3", as: \.level <= 0.3)
        try expectSame("level < 0.7", as: \.level < 0.7)
        try expectSame("level >= 0.7", as: \.level >= 0.7)
        try expectSame("level > 0.7", as: \.level > 0.7)
        try expectSame("level IN {0.1, 0.3}", as: (\Gauge.level).in([0.1, 0.3]))
        try expectSame("level BETWEEN {0.3, 0.7}", as: (\Gauge.level).isBetween(0.3...0.7))
        try expectSame("level == $0", 0.3, as: \.level == 0.3)
        try expectSame("level IN $0", [0.1, 0.3], as: (\Gauge.level).in([0.1, 0.3]))
        try expectSame("spare == 0.2", as: \.spare == 0.2)
        try expectSame("spare == NULL", as: \.spare == nil)
    }

    @Test("also over links, in lists, and as the ends of a list")
    func paths() throws {
        try expectSame("next.level == 0.3", as: \.next?.level == 0.3)
        try expectSame("ANY levels == 0.3", as: (\Gauge.levels).contains(0.3))
        try expectSame("0.3 IN levels", as: (\Gauge.levels).contains(0.3))
        try expectSame("levels.@max == 0.3", as: (\Gauge.levels).contains(0.3))
        try expectSame("levels.@min == 0.3", as: (\Gauge.levels).contains(0.3))
    }

    @Test("other numbers keep all digits, and none is rounded out of a type's range")
    func others() throws {
        try expectSame("exact == 0.3", as: \.exact == 0.3)
        try expectSame("small == 3", as: \.small == 3)
        try expectSame("small < 300", as: .all)
        try expectSame("small == 3.0", as: \.small == 3)
        try expectSame("level < 1e300", as: .all)
        try test.store.read { connection in
            try #require(try connection.objects(Gauge.self).where("level == 1e300").isEmpty)
        }
    }
}

private final class Gauge: StoredObject {
    @Stored var level: Float = 0
    @Stored var spare: Float? = nil
    @Stored var exact = 0.0
    @Stored var small: Int8 = 0
    @Listed var levels: List<Float>
    @Linked var next: Gauge?
}
