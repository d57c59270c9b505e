// Tests of equality of objects, and of their identity in user interfaces.
import Foundation
import Testing

@testable import StillingWell

@Suite("Equal objects")
struct IdentityTests {
    @Test("plain objects are equal to themselves alone, whatever their values")
    func plain() {
        let (a, b) = (Note(id: 1), Note(id: 1))
        #expect(a == a && a != b)
        #expect(Set([a, b, a]).count == 2)
        #expect((a as StoredObject) != (Human(1) as StoredObject))
    }

    @Test("two objects that stand for one row are equal, and one element of a set")
    func sameRow() throws {
        let test = try TestStore()
        try test.store.write { try $0.add([Note(id: 1), Note(id: 2)]) }
        try test.store.read { connection in
            let notes = try connection.objects(Note.self)
            let found = try #require(try connection.object(Note.self, forPrimaryKey: 1))
            #expect(found !== notes[0] && found == notes[0] && found != notes[1])
            #expect(found.hashValue == notes[0].hashValue)
            #expect(Set(Array(notes) + [found]).count == 2)
            #expect(notes.firstIndex(of: found) == 0 && notes.contains(found))
        }
    }

    @Test("the same number is another object in another class and in another store")
    func otherHome() throws {
        let (a, b) = (try TestStore([Human.self, Dog.self]), try TestStore([Human.self, Dog.self]))
        for test in [a, b] {
            try test.store.write { connection in
                try connection.add(Human(1))
                try connection.add(Dog(1))
            }
        }
        try a.store.read { ours in
            try b.store.read { theirs in
                let (human, dog) = (try ours.objects(Human.self)[0], try ours.objects(Dog.self)[0])
                #expect(human as StoredObject != dog as StoredObject)
                #expect(human != (try theirs.objects(Human.self)[0]))
            }
        }
    }

    @Test("frozen objects of one version are equal and differ from the live one; all have the same id")
    func frozen() throws {
        let test = try TestStore([Shelf.self])
        try test.store.write { connection in
            let shelf = Shelf()
            shelf.name = "A"
            try connection.add(shelf)
        }
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        let shelf = try connection.objects(Shelf.self)[0]
        let (first, again) = (try shelf.freeze().object, try shelf.freeze().object)
        #expect(first == again && first != shelf)
        try connection.write { shelf.name = "E" }
        _ = try connection.refresh()
        let later = try shelf.freeze().object
        #expect(first != later)
        #expect(later.name == "E" && first.name == "A")
        #expect(Set([first.id, again.id, later.id, shelf.id]).count == 1)
    }

    @Test("an object's identity changes when it is added, and changes back when the write is cancelled")
    func adding() throws {
        let test = try TestStore([Shelf.self])
        let shelf = Shelf()
        let plain = shelf.id
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        try connection.beginWrite()
        try connection.add(shelf)
        #expect(shelf.id != plain)
        #expect(try connection.objects(Shelf.self)[0].id == shelf.id)
        try connection.cancelWrite()
        #expect(shelf.id == plain)
    }

    @Test("a model with a property `id` uses it as its Identifiable id")
    func ownID() {
        func known<Object: Identifiable>(_ object: Object) -> Object.ID { object.id }
        let book = Book()
        book.id = 7
        #expect(known(book) == 7)
    }

    @Test("a deleted object equals other objects of its row")
    func deleted() throws {
        let test = try TestStore()
        try test.store.write { try $0.add(Note(id: 1)) }
        try test.store.write { connection in
            let notes = try connection.objects(Note.self)
            let (a, b) = (notes[0], notes[0])
            try connection.delete(a)
            #expect(a == b && a.isInvalidated)
        }
    }

    @Test("objects of two connections that stand for one row are equal, also at different versions")
    func connections() throws {
        let test = try TestStore()
        try test.store.write { try $0.add(Note(id: 1)) }
        let (a, b) = (ManualScheduler(), ManualScheduler())
        let (first, second) = (
            try test.store.connect(on: .scheduler(a)), try test.store.connect(on: .scheduler(b))
        )
        let ours = try #require(try first.object(Note.self, forPrimaryKey: 1))
        let theirs = try #require(try second.object(Note.self, forPrimaryKey: 1))
        #expect(ours == theirs && ours !== theirs)
        try first.write { ours.title = "later" }
        _ = try first.refresh()
        #expect(first.version != second.version && ours == theirs && Set([ours, theirs]).count == 1)
    }

    @Test("a set still holds an object whose values have changed")
    func changed() throws {
        let test = try TestStore()
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        try connection.write { try connection.add([Note(id: 1), Note(id: 2)]) }
        let notes = try connection.objects(Note.self)
        let selected: Set = [notes[0]]
        try connection.write { notes[0].title = "else" }
        #expect(selected.contains(notes[0]) && !selected.contains(notes[1]))
    }

    @Test("a resolved reference equals its source, and so does a thawed object")
    func resolved() throws {
        let test = try TestStore()
        try test.store.write { try $0.add(Note(id: 1)) }
        let (here, there) = (
            try test.store.connect(on: .scheduler(ManualScheduler())),
            try test.store.connect(on: .scheduler(ManualScheduler()))
        )
        let note = try here.objects(Note.self)[0]
        let resolved = try #require(try there.resolve(ThreadSafeReference(to: note)))
        #expect(resolved == note)
        let frozen = try note.freeze()
        #expect(frozen.object != note)
        #expect(try frozen.thaw(on: there) == note)
    }
}

/// An object identified by its row.
private final class Shelf: StoredObject, Identifiable {
    @Stored var name = ""
}

/// An object identified by its key.
private final class Book: StoredObject, Identifiable {
    @Stored(.primaryKey) var id = 0
}
