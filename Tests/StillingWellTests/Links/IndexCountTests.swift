// Tests of counts that are read from an index: of linking objects and of rows with one value.
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

private final class Team: StoredObject {
    @Stored(.primaryKey) var id = 0
    @LinkingObjects(\Member.team) var members: Backlinks<Member>

    convenience init(_ id: Int) {
        self.init()
        self.id = id
    }
}

private final class Member: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Linked var team: Team?
    @Stored(.indexed) var rank = 0
    @Stored(.indexed) var points: Int? = nil

    convenience init(_ id: Int) {
        self.init()
        self.id = id
    }
}

@Suite("Counts from an index")
struct IndexCountTests {
    private static let numbers = [Int.min, Int.min + 1, -256, -1, 0, 1, 255, 256, Int.max - 1, Int.max]

    @Test("are those of the rows that a scan finds", arguments: 0..<4)
    func same(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore([Team.self, Member.self], durability: round % 2 == 0 ? .memory : .relaxed)
        try test.store.write { connection in for id in 0..<4 { try connection.add(Team(id)) } }
        for _ in 0..<8 {
            // The first team may get more members than have room in a page. The last one gets none.
            let most = random.oneIn(3) ? 400 : 20
            try test.store.write { connection in
                let teams = try (0..<4).map { try connection.object(Team.self, forPrimaryKey: $0) }
                for _ in 0..<most {
                    let id = random.below(600)
                    let known = try connection.object(Member.self, forPrimaryKey: id)
                    if let known, random.oneIn(4) {
                        try connection.delete(known)
                        continue
                    }
                    let member = known ?? Member(id)
                    member.team = random.oneIn(6) ? nil : teams[random.oneIn(3) ? random.below(3) : 0]
                    member.rank = Self.numbers[random.below(Self.numbers.count)]
                    member.points = random.oneIn(4) ? nil : Self.numbers[random.below(Self.numbers.count)]
                    if known == nil { try connection.add(member) }
                }
                // Counts inside a write include its changes.
                try check(connection, "TIDEGAUGE_SEED=\(seed), in a write")
            }
            try test.store.read { try check($0, "TIDEGAUGE_SEED=\(seed)") }
        }
    }

    private func check(_ connection: Connection, _ comment: Comment) throws {
        let members = try connection.objects(Member.self)
        for team in try connection.objects(Team.self) {
            let expected = members.map { $0.team?.id == team.id ? 1 : 0 }.reduce(0, +)
            #expect(team.members.count == expected, comment)
            #expect(try team.linkingObjects(\Member.team).count == expected, comment)
        }
        for number in Self.numbers {
            #expect(members.where(\.rank == number).count == members.filter { $0.rank == number }.count, comment)
            #expect(members.where(\.points == number).count == members.filter { $0.points == number }.count, comment)
        }
        #expect(members.where(\.points == nil).count == members.filter { $0.points == nil }.count, comment)
    }

    @Test("of a damaged index are an error")
    func damage() throws {
        let closed = try ClosedStore([Team.self, Member.self]) { store in
            try store.write { connection in
                for id in 0..<8 {
                    let team = Team(id)
                    try connection.add(team)
                    for member in 0..<20 {
                        let member = Member(100 * id + member)
                        member.team = team
                        try connection.add(member)
                    }
                }
            }
        }
        func count() throws -> Int? {
            var count: Int?
            try closed.open { store in
                count = try store.read { try #require(try $0.object(Team.self, forPrimaryKey: 5)).members.count }
            }
            return count
        }
        #expect(try count() == 20)
        var (row, index) = (UInt64(0), "")
        try closed.open { store in
            row = try store.read { try #require(try $0.object(Team.self, forPrimaryKey: 5)?.objectID).rawValue }
            index = ColumnIndex.name(try store.core.storage.table(of: Member.self).id, 1)
        }
        // Keys of a link's index are the ids of linked objects. The entry has its 20 values in a page inside the leaf.
        let leaves = closed.leaves(below: try closed.root(of: index))
        let entry = try #require(
            leaves.flatMap { closed.entries(of: $0 * ClosedStore.pageBytes) }.first {
                closed.number(at: $0 + 8, UInt64.self) == row.bigEndian
            })
        let values = entry + 16
        try #require(closed.number(at: entry + 4, UInt16.self) == 4)
        try #require(closed.number(at: values + 12, UInt16.self) == 16 + 2 * 20)
        // Bytes of a value, end of the offsets, end of the free bytes, and the id and checksum of the first value.
        for (place, change) in [(8, 1), (8, 12), (12, 2), (12, -2), (12, 1), (14, 1), (14, -12), (16, 1), (24, 1)] {
            try closed.damaged {
                let old = closed.number(at: values + place, UInt16.self)
                closed.set(UInt16(truncatingIfNeeded: Int(old) + change), at: values + place)
            } _: {
                #expect(throws: StoreError.self, "\(place) \(change)") { try count() }
            }
        }
    }
}
