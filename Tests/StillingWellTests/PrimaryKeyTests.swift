import Foundation
import StillingWellSync
import Testing

@testable import StillingWell

private final class TwoKeys: StoredObject {
    @Stored(.primaryKey) var number = 0
    @Stored(.primaryKey) var name = ""
}

private final class Blob: StoredObject {
    @Stored(.primaryKey) var key = Data()
}

private final class Named: StoredObject {
    @Stored(.primaryKey) var name = ""
    @Stored(.indexed) var label = ""
}

/// A class whose first instance is created as slowly as a test wants.
private final class SlowlyMade: StoredObject {
    static let made = Watched(0)
    static let mayGoOn = Watched(false)

    @Stored(.primaryKey) var number = 0

    required init() {
        super.init()
        var isFirst = false
        Self.made.update {
            $0 += 1
            isFirst = $0 == 1
        }
        if isFirst { _ = try? Self.mayGoOn.wait("the other thread to be through") { $0 } }
    }
}

@Suite("Primary keys")
struct PrimaryKeyTests {
    @Test("a key of another type is an error that names the model and both types")
    func otherType() throws {
        let test = try TestStore([Note.self, Person.self, LogLine.self])
        try test.store.write { connection in
            try connection.add(Note(id: 1))
            let person = Person()
            person.name = "\u{1}"
            try connection.add(person)
        }
        try test.store.read { connection in
            func check(_ type: String, _ look: () throws -> Void) {
                let text = refusal(look)
                #expect(text.contains("Note") && text.contains("Int") && text.contains(type), "\(text)")
            }
            check("Bool") { _ = try connection.object(Note.self, forPrimaryKey: true) }
            check("Double") { _ = try connection.object(Note.self, forPrimaryKey: Double(bitPattern: 1)) }
            check("Date") {
                let date = Date(timeIntervalSinceReferenceDate: Double(bitPattern: 1))
                _ = try connection.object(Note.self, forPrimaryKey: date)
            }
            check("String") { _ = try connection.object(Note.self, forPrimaryKey: "1") }
            let text = refusal { _ = try connection.object(Person.self, forPrimaryKey: Data([1])) }
            #expect(text.contains("Person") && text.contains("Data") && text.contains("String"), "\(text)")
            let none = refusal { _ = try connection.object(LogLine.self, forPrimaryKey: 1) }
            #expect(none.contains("LogLine") && none.contains("no primary key"), "\(none)")
            // An optional of the right type is accepted.
            let one = try connection.object(Note.self, forPrimaryKey: Int?.some(1))
            #expect(one?.id == 1)
            #expect(try connection.object(Note.self, forPrimaryKey: Int?.none) == nil)
        }
    }

    @Test("a model with two primary keys is refused, and both are named")
    func twoKeys() {
        let text = refusal { _ = try TestStore([TwoKeys.self]) }
        #expect(text.contains("'number'") && text.contains("'name'") && text.contains("TwoKeys"), "\(text)")
    }

    /// Keys of up to 3 and of 509 to 511 bytes, most with zeros at one end or both.
    private static let keys: [Data] = {
        var keys: Set<Data> = []
        for count in [0, 1, 2, 3, 509, 510, 511] {
            keys.insert(Data(repeating: 1, count: count))
            for zeros in [1, 2, 3, 508, 509, 510, 511] where zeros <= count {
                let rest = count - zeros
                keys.insert(Data(repeating: 0, count: zeros) + Data(repeating: 1, count: rest))
                keys.insert(Data(repeating: 1, count: rest) + Data(repeating: 0, count: zeros))
                if rest > 0 {
                    keys.insert(Data(repeating: 0, count: zeros) + [1] + Data(repeating: 0, count: rest - 1))
                }
            }
        }
        // A key of 511 zeros cannot be stored: there is one more key of up to 511 bytes than LMDB can have.
        keys.remove(Data(repeating: 0, count: 511))
        return keys.sorted { $0.lexicographicallyPrecedes($1) }
    }()

    @Test(
        "a count by a key is one or none: amid a write too, beside other conditions, and of a key that no object can have"
    )
    func counted() throws {
        let test = try TestStore([Note.self, Blob.self])
        try test.store.write { connection in
            for id in 0..<3 { try connection.add(Note(id: id, title: "note \(id)")) }
        }
        func counts(_ connection: Connection) throws -> [Int] {
            let notes = try connection.objects(Note.self)
            let ofEach = (0..<5).map { notes.where(\.id == $0).count }
            return try ofEach + [
                notes.where(\.id == 1).where(\.title == "note 1").count, notes.where(\.id == 1 && \.title == "").count,
                notes.where(\.id == 1).limited(to: 0).count,
                connection.objects(Blob.self).where(\.key == Data(repeating: 1, count: 600)).count,
            ]
        }
        #expect(try test.store.read(counts) == [1, 1, 1, 0, 0, 1, 0, 0, 0])
        try test.store.write { connection in
            try connection.add(Note(id: 4))
            try connection.delete(try #require(try connection.object(Note.self, forPrimaryKey: 0)))
            #expect(try counts(connection) == [0, 1, 1, 0, 1, 1, 0, 0, 0])
        }
        #expect(try test.store.read(counts) == [0, 1, 1, 0, 1, 1, 0, 0, 0])
    }

    @Test("keys of up to 511 bytes are kept apart, whatever zeros are in them")
    func lengths() throws {
        let test = try TestStore([Blob.self, Named.self])
        let texts = Self.keys.map { String(decoding: $0, as: UTF8.self) } + [String(repeating: "\0", count: 511)]
        try test.store.write { connection in
            for key in Self.keys {
                let blob = Blob()
                blob.key = key
                try connection.add(blob)
            }
            for text in texts {
                let named = Named()
                named.name = text
                named.label = text
                try connection.add(named)
            }
        }
        try test.store.write { connection in
            for key in Self.keys {
                let blob = try #require(try connection.object(Blob.self, forPrimaryKey: key))
                #expect(blob.key == key)
            }
            for text in texts {
                let named = try #require(try connection.object(Named.self, forPrimaryKey: text))
                #expect(named.name == text)
                #expect(try connection.objects(Named.self).where(\.label == text).map(\.name) == [text])
                let again = Named()
                again.name = text
                #expect(refusal { try connection.add(again) }.contains("primary key"))
                try connection.delete(named)
                #expect(try connection.object(Named.self, forPrimaryKey: text) == nil)
            }
            #expect(try connection.objects(Named.self).isEmpty)
        }
    }

    @Test("encodings of keys do not change, so that existing stores stay readable")
    func codes() {
        func code(_ key: Data) -> [UInt8] {
            PrimaryKey.withBytes(of: ColumnValue.data(key)) { Array($0) } ?? []
        }
        #expect(code(Data()) == [0])
        #expect(code(Data([0])) == [0, 0])
        #expect(code(Data([0, 5])) == [0, 0, 5])
        #expect(code(Data([5, 0])) == [5, 0])
        let longest = Data(repeating: 0, count: 510)
        #expect(code(longest) == [UInt8](repeating: 0, count: 511))
    }

    @Test("a longer key is refused when it is added, and found nowhere")
    func tooLong() throws {
        let test = try TestStore([Blob.self, Named.self])
        for (first, bytes) in [("a", 512), ("\0", 513)] {
            let name = first + String(repeating: "a", count: 511)
            let text = refusal {
                try test.store.write { connection in
                    let named = Named()
                    named.name = name
                    try connection.add(named)
                }
            }
            #expect(text.contains("'Named'") && text.contains("\(bytes) bytes") && text.contains("511"), "\(text)")
            #expect(try test.store.read { try $0.object(Named.self, forPrimaryKey: name) == nil })
        }
        let zeros = Data(repeating: 0, count: 511)
        let text = refusal {
            try test.store.write { connection in
                let blob = Blob()
                blob.key = zeros
                try connection.add(blob)
            }
        }
        #expect(text.contains("'Blob'") && text.contains("511"), "\(text)")
        #expect(try test.store.read { try $0.object(Blob.self, forPrimaryKey: zeros) == nil })
    }

    @Test("the error of a duplicate key names the remedy")
    func duplicate() throws {
        let test = try TestStore()
        let text = refusal {
            try test.store.write { connection in
                try connection.add(Note(id: 1))
                try connection.add(Note(id: 1))
            }
        }
        #expect(text.contains("'Note'") && text.contains("primary key 1"))
        #expect(!text.contains("update:") && text.contains("object(_:forPrimaryKey:)"), "\(text)")
    }

    @Test("two threads that use a class for the first time at once both get its primary key")
    func firstUses() throws {
        let first = TracedThread("first use") { #expect(ModelLayout.of(SlowlyMade.self).primaryKeys == [0]) }
        try SlowlyMade.made.wait("the first instance") { $0 == 1 }
        #expect(ModelLayout.of(SlowlyMade.self).primaryKeys == [0])
        SlowlyMade.mayGoOn.update { $0 = true }
        first.join()
    }
}
