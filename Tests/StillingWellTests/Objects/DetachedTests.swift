// Tests of copies that belong to no store.
import Foundation
import StillingWellFixtures
import Testing

@testable import StillingWell

@Suite("Detached copies")
struct DetachedTests {
    @Test("have the values and the lists of values, and no links, and stay as they are")
    func values() throws {
        let test = try TestStore([Human.self, Dog.self])
        try test.store.write { connection in
            let human = Human(1, "Ada")
            human.tags = ["x", "y"]
            human.friends = [Human(2, "Bob")]
            human.boss = human.friends[0]
            try connection.add(human)
        }
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        let human = try #require(try connection.object(Human.self, forPrimaryKey: 1))
        let copies = [try human.detached(), try human.freeze().object.detached()]
        try connection.write {
            human.name = "Eve"
            human.tags.removeAll()
        }
        for copy in copies {
            #expect(copy.objectID == nil && copy.connection == nil)
            #expect(copy.id == 1 && copy.name == "Ada" && Array(copy.tags) == ["x", "y"])
            #expect(copy.boss == nil && copy.friends.isEmpty)
            copy.name = "a copy"
            copy.tags.append("z")
            #expect(try Array(copy.detached().tags) == ["x", "y", "z"])
        }
        #expect(human.name == "Eve")
    }

    @Test("a copy has the values of the same write; a deleted object has no copy")
    func inWrites() throws {
        let test = try TestStore()
        try test.store.write { connection in
            let note = Note(id: 1, score: 3)
            try connection.add(note)
            note.score = 4
            note.title = "new"
            let copy = try note.detached()
            #expect(copy.score == 4 && copy.title == "new" && copy.group == nil)
            try connection.delete(note)
            #expect(throws: StoreError.invalidatedObject(table: "Note")) { try note.detached() }
        }
    }

    @Test("have the values of all properties of a note")
    func types() throws {
        let test = try TestStore()
        try test.store.write { connection in
            for id in 0..<2 {
                let note = Note(id: id, score: -7, title: "ß e\u{301}", group: id == 0 ? nil : .min)
                (note.weight, note.done) = (-0.0, id == 1)
                note.due = id == 0 ? nil : Date(timeIntervalSinceReferenceDate: 0.25)
                note.blob = Data(repeating: 3, count: 5_000 * id)
                note.mood = id == 0 ? nil : Mood.allCases.last
                try connection.add(note)
                let copy = try note.detached()
                for property in ModelLayout.of(Note.self).properties {
                    let values = [note, copy].map { "\(property.wrapper.value(of: $0, at: property.offset) as Any)" }
                    #expect(values[0] == values[1], "\(property.name)")
                }
                #expect(copy.title.unicodeScalars.elementsEqual(note.title.unicodeScalars) && copy.blob == note.blob)
            }
        }
    }
}
