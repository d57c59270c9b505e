import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Queries as text over links")
struct QueryTextLinkTests {
    private static func withStore(_ body: (Connection) throws -> Void) throws {
        let test = try TestStore([Human.self, Dog.self], durability: .memory)
        try test.store.write { connection in
            let humans = (0..<5).map { Human($0, ["Ada", "Bob", "Cy", "Ada", "Ed"][$0], age: $0 * 10) }
            for human in humans { try connection.add(human) }
            humans[1].boss = humans[0]
            humans[2].boss = humans[1]
            humans[1].friends.append(contentsOf: [humans[2], humans[3]])
            humans[2].friends.append(humans[0])
            humans[0].tags.append(contentsOf: ["x", "y"])
            humans[3].scores.append(contentsOf: [1, nil, 5])
            for id in 0..<4 {
                try connection.add(Dog(id, owner: id == 3 ? nil : humans[id], breed: id == 1 ? nil : "b\(id)"))
            }
        }
        try test.store.read(body)
    }

    @Test("the typed and the text form of a condition over links share one plan")
    func plans() throws {
        try Self.withStore { connection in
            let ada = try #require(try connection.object(Human.self, forPrimaryKey: 0))
            let humans: [(String, [(any QueryArgument)?], Filter<Human>)] = [
                ("boss.name == 'Ada'", [], \.boss?.name == "Ada"),
                ("boss.name != 'Ada'", [], \.boss?.name != "Ada"),
                ("boss.name == NULL", [], \.boss?.name == nil),
                ("boss.boss.age > 5", [], \.boss?.boss?.age > 5),
                ("boss.name BEGINSWITH[c] 'a'", [], (\Human.boss?.name).hasPrefix("a", caseInsensitive: true)),
                ("boss.name IN {'Ada', NULL}", [], (\Human.boss?.name).in(["Ada", nil])),
                ("boss == $0", [ada], \.boss == ada), ("boss != nil", [], \.boss != nil),
                ("ANY friends.age > 15", [], .any(\.friends, \.age > 15)),
                ("friends.age > 15", [], .any(\.friends, \.age > 15)),
                ("ALL friends.age > 15", [], .all(\.friends, \.age > 15)),
                ("NONE friends.age BETWEEN {1, 5}", [], .none(\.friends, \.age >= 1 && \.age <= 5)),
                ("any friends.boss.name = 'Ada'", [], .any(\.friends, \.boss?.name == "Ada")),
                (
                    "ANY friends.(age > 15 AND name LIKE 'C*')", [],
                    .any(\.friends, \.age > 15 && (\Human.name).isLike("C*"))
                ),
                ("ANY friends == $0", [ada], (\Human.friends).contains(ada)),
                ("$0 IN friends", [ada], (\Human.friends).contains(ada)),
                ("'x' IN tags", [], (\Human.tags).contains("x")), ("ANY tags == 'x'", [], (\Human.tags).contains("x")),
                ("friends.@count >= 2", [], \.friends.count >= 2), ("tags.@count == 0", [], \.tags.count == 0),
                ("friends.@sum.age > 40", [], (\Human.friends).sum(\.age) > 40),
                ("friends.@avg.age == 25", [], (\Human.friends).average(\.age) == 25),
            ]
            for (text, arguments, typed) in humans {
                let all = try connection.objects(Human.self)
                let found = try all.refined(by: text, arguments)
                #expect(found.query.plan == all.where(typed).query.plan, "\(text)")
            }
        }
    }

    @Test(
        "text queries over links find the matching objects",
        arguments: [
            ("boss.name == 'Ada'", [1]), ("boss.name == NULL", [0, 3, 4]), ("boss.boss.name == 'Ada'", [2]),
            ("NONE friends.age > 5", [0, 2, 3, 4]), ("ALL friends.age > 15", [0, 1, 3, 4]), ("'y' in tags", [0]),
            ("ANY friends.friends.name == 'Ada'", [1]), ("NONE friends.friends.name == 'Ada'", [0, 2, 3, 4]),
            ("friends.@min.age == 20", [1]), ("friends.@min.age == NULL", [0, 3, 4]), ("scores.@sum > 5", [3]),
            ("scores.@count == 3", [3]), ("scores.@avg BETWEEN {2.5, 3.5}", [3]), ("ANY scores == NULL", [3]),
            ("boss.(age < 15 AND NOT (name == 'Ada'))", [2]), ("boss.friends.@count == 2", [2]),
            ("boss.age < 1e30", [1, 2]),
            ("boss.age != 1.5", [0, 1, 2, 3, 4]), ("boss.name !=[c] 'ADA'", [0, 2, 3, 4]),
            ("boss.name == 'Ada' or boss.name == 'Bob' SORT(age DESC) LIMIT(1)", [2]),
        ])
    func finds(_ text: String, _ expected: [Int]) throws {
        try Self.withStore { connection in
            let found = try connection.objects(Human.self).where(text).map(\.id)
            #expect(found == expected)
        }
    }

    @Test(
        "an error in a text over links names its position",
        arguments: [
            ("boss.nme == 'x'", "1:6: Human has no property 'nme' (did you mean 'name'?)"),
            ("age.name == 'x'", "1:1: 'age' of Human is an integer, and leads nowhere"),
            ("ANY age > 5", "1:1: ANY, ALL and NONE are for lists"),
            ("boss > NULL", "1:8: 'boss' of Human is in no order"),
            ("boss == 5", "1:9: 'boss' of Human is a link, and cannot be compared with 5; pass an object"),
            ("friends == 5", "1:12: 'friends' of Human has objects"),
            ("friends CONTAINS 'a'", "1:1: 'friends' of Human is no property that has a value"),
            ("friends.@sum > 5", "1:14: expected '.' and a property behind @sum"),
            ("friends.@sum.name > 5", "1:14: 'name' is a string: @sum is for numbers and dates"),
            ("friends.@most.age > 5", "1:9: '@most' is none of @count"),
            ("friends.@count > 'a'", "1:18: what 'friends' of Human comes to is a number"),
            ("SORT(friends)", "1:6: 'friends' of Human is a list"), ("5 IN age", "1:6: 'age' of Human is no list"),
            ("ANY friends.(age > 5", "1:21: expected ')' to close a parenthesis, found the end"),
            (
                Array(repeating: "boss", count: 40).joined(separator: ".") + ".age > 1",
                "1:1: the path is longer than 32 links"
            ),
        ])
    func faults(_ text: String, _ expected: String) throws {
        try Self.withStore { connection in
            #expect {
                _ = try connection.objects(Human.self).where(text)
            } throws: { error in
                "\(error)".hasPrefix("cannot read the query at \(expected)")
                    || {
                        Issue.record("\(error)"); return true
                    }()
            }
        }
    }

    @Test("the deepest text that is read fits a small stack, and so does all that is done with it")
    func smallStack() throws {
        let result = Watched<String?>(nil)
        let thread = Thread {
            do {
                try Self.withStore { connection in
                    var text = "age > 1"
                    // Each level uses two levels of nesting, a path and a negation.
                    for _ in 0..<QueryParser.maxDepth / 2 { text = "NOT ANY friends.(\(text))" }
                    let found = try connection.objects(Human.self).where(text)
                    let count = found.count
                    let hash = found.query.plan.hashValue
                    result.update { $0 = "\(count >= 0 && hash == found.query.plan.hashValue)" }
                    #expect(throws: StoreError.self) {
                        try connection.objects(Human.self).where("ANY friends.(\(text))")
                    }
                    let deep = String(repeating: "boss.(", count: 10_000)
                    #expect(throws: StoreError.self) { try connection.objects(Human.self).where(deep) }
                }
            } catch {
                result.update { $0 = "\(error)" }
            }
        }
        thread.stackSize = 512 << 10
        thread.start()
        let outcome = try result.wait("the small stack") { $0 != nil }
        #expect(outcome == "true")
    }

    @Test("every filter over links can be written and is read as the same", arguments: 0..<6)
    func roundTrip(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        try Self.withStore { connection in
            let storage = connection.core.storage
            let table = try storage.table(of: Human.self)
            for _ in 0..<200 {
                let filter = Self.filter(4, &random)
                var printer = QueryPrinter(.init(ModelLayout.of(Human.self)))
                let text = printer.print(filter)
                let read = try QueryParser.parse(text, table.schema, printer.arguments) { name in
                    storage.tablesByID.values.first { $0.schema.name == name }?.schema
                }
                #expect(read.filter.normalized == filter.normalized, "\(text), TIDEGAUGE_SEED=\(seed)")
                // The normal form passes the same rows.
                let plain = try connection.objects(Human.self).filter { human in
                    let id = human.objectID!
                    let source = connection.currentSource!
                    return filter.matches(
                        connection.currentRow(table, id)!, Reach(source: source, links: table.links, id: id))
                }
                let found = try connection.objects(Human.self).refined { $0.filter = filter }
                #expect(found.map(\.id) == plain.map(\.id), "\(text), TIDEGAUGE_SEED=\(seed)")
            }
        }
    }

    /// Makes a filter of humans. The columns are id 0, name 1, age 2, boss 3, friends 4, tags 5, scores 6.
    private static func filter(_ depth: Int, _ random: inout SeededRandom) -> FilterExpression {
        if depth > 0 {
            switch random.below(8) {
            case 0: return .and((0..<random.below(3)).map { _ in filter(depth - 1, &random) })
            case 1: return .or((0..<random.below(3)).map { _ in filter(depth - 1, &random) })
            case 2: return .not(filter(depth - 1, &random))
            case 3: return .linked(column: 3, filter(depth - 1, &random))
            case 4:
                return .quantified(
                    column: 4, [.any, .all, .none][random.below(3)], filter(depth - 1, &random))
            case 5:
                return .quantified(
                    column: 5, [.any, .all, .none][random.below(3)],
                    .compare(column: ListTable.value, .equal, .string(["x", "z"][random.below(2)])))
            default: break
            }
        }
        let comparison: StillingWell.Comparison = [.equal, .notEqual, .less, .greaterOrEqual][random.below(4)]
        switch random.below(6) {
        case 0: return .identity(ObjectID(rawValue: UInt64(1 + random.below(6))))
        case 1: return .compare(column: 3, [.equal, .notEqual][random.below(2)], .null, isOptional: true)
        case 2: return .compare(column: 1, comparison, .string(["Ada", "Bob"][random.below(2)]))
        case 3: return .aggregate(column: 4, .count, of: nil, comparison, .int(random.below(3)))
        case 4:
            let aggregate: Aggregate = [.sum, .min, .max, .average][random.below(4)]
            return .aggregate(column: random.oneIn(2) ? 4 : 3, aggregate, of: 2, comparison, .double(20))
        default: return .compare(column: 2, comparison, .int(random.below(4) * 10))
        }
    }
}
