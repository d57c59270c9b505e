// Rule 20 for the tables of lists. A migration may change the class with a list, the class it refers to, and both
// names. The store must open again, and so must stores that earlier builds have damaged.
import CStillingWellLMDB
import Foundation
import Testing

@testable import StillingWell

private enum V1 {
    final class Doc: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Listed var refs: List<Ref>
        @Listed var tags: List<String>
    }
    final class Ref: StoredObject {
        @Stored var title = ""
    }
}

/// `tags` holds numbers.
private enum TagsAreNumbers {
    final class Doc: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Listed var refs: List<V1.Ref>
        @Listed var tags: List<Int>
    }
}

/// `refs` and `Ref` were removed.
private enum V2 {
    final class Doc: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Listed var tags: List<String>
    }
}

/// The list is column 2, and its table has number 2.
private enum W1 {
    final class Doc: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Stored var mark = 0
        @Listed var tags: List<String>
    }
}

/// `tags` holds numbers.
private enum W2 {
    final class Doc: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Stored var mark = 0
        @Listed var tags: List<Int>
    }
    final class Other: StoredObject {
        @Stored var title = ""
    }
}

/// `tags` is a number.
private enum W3 {
    final class Doc: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Stored var mark = 0
        @Stored var tags = 7
    }
}

/// `tags` is hidden.
private enum W4 {
    final class Doc: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Stored var mark = 0
    }
}

/// `labels` is renamed to `tags`, which is hidden.
private enum V5 {
    final class Doc: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Listed var labels: List<String>
    }
}

/// A class whose name looks like that of a list's table: `Box<Int.Type>`.
private final class Box<Value>: StoredObject {
    @Stored var text = ""
}

@Suite("Rule 20: tables of lists")
struct Rule20ListTableTests {
    /// Makes a file with one document. It has two tags and refers to two objects of the class `Ref`.
    private func file() throws -> SchemaFile {
        let file = SchemaFile()
        try file.open(V1.Doc.self, V1.Ref.self).write { connection in
            let (doc, refs) = (V1.Doc(), [V1.Ref(), V1.Ref()])
            doc.name = "a"
            doc.refs.append(contentsOf: refs)
            doc.tags.append(contentsOf: ["x", "y"])
            try connection.add(doc)
        }
        return file
    }

    private func deletesRef() -> @Sendable (Migration) throws -> Void { { try $0.deleteTable("Ref") } }

    /// Opens the store and returns the tags of each document.
    private func tags(_ file: SchemaFile, _ path: String? = nil) throws -> [[String]] {
        try Store(.init(path: path ?? file.path, models: [V2.Doc.self], durability: .relaxed, schemaVersion: 1))
            .read { try $0.objects(V2.Doc.self).map { Array($0.tags) } }
    }

    private func expectWhole(_ file: SchemaFile) throws {
        let report = try Store.verify(path: file.path)
        #expect(report.isWhole, "\(report.damage)")
        try Store.salvage(path: file.path, to: file.path + "/new")
        #expect(try Store.verify(path: file.path + "/new").isWhole)
    }

    @Test("a class that a list refers to is deleted, and the store opens again and can be salvaged")
    func deletedTarget() throws {
        let file = try file()
        _ = try file.open(V2.Doc.self, version: 1, migration: deletesRef())
        #expect(try tags(file) == [["x", "y"]])
        try expectWhole(file)
        #expect(try tags(file, file.path + "/new") == [["x", "y"]])
        // The class is declared again, and the list is back, empty.
        let again = try file.open(V1.Doc.self, V1.Ref.self, version: 2)
        try again.write { connection in
            let doc = try #require(try connection.objects(V1.Doc.self).first)
            #expect(doc.refs.isEmpty && Array(doc.tags) == ["x", "y"])
            let ref = V1.Ref()
            doc.refs.append(ref)
            #expect(try connection.objects(V1.Ref.self).count == 1)
            try connection.delete(ref)
            #expect(doc.refs.isEmpty)
        }
    }

    @Test("a store that an earlier build left with a hidden column in a list's table opens again and can be salvaged")
    func damagedByDeletion() throws {
        let file = try file()
        _ = try file.open(V2.Doc.self, version: 1, migration: deletesRef())
        try file.rewriteSchema(V2.Doc.self, version: 1) { schema in
            let list = try #require(schema.tables.firstIndex { $0.name == "Doc.refs#1" })
            schema.tables[list].columns[ListTable.value].name = "value#2"
            schema.tables[list].columns[ListTable.value].isHidden = true
            schema.tables[list].columns[ListTable.value].target = "Ref"
            let doc = try #require(schema.tables.firstIndex { $0.name == "Doc" })
            schema.tables[doc].columns[1].target = "Ref"
        }
        #expect(try tags(file) == [["x", "y"]])
        try expectWhole(file)
        #expect(try tags(file, file.path + "/new") == [["x", "y"]])
        let again = try file.open(V1.Doc.self, V1.Ref.self, version: 2)
        try again.write { connection in
            let doc = try #require(try connection.objects(V1.Doc.self).first)
            for _ in 0..<3 { doc.refs.append(V1.Ref()) }
            try connection.delete(try connection.objects(V1.Ref.self))
            #expect(doc.refs.isEmpty)
        }
        again.close()
    }

    /// Makes a file with one document whose tag was a text. The tag is lost because tags have become numbers.
    private func retyped() throws -> SchemaFile {
        let file = SchemaFile()
        try file.open(W1.Doc.self).write { connection in
            let doc = W1.Doc()
            doc.tags.append("x")
            try connection.add(doc)
        }
        _ = try file.open(W2.Doc.self, version: 1, migration: { _ in })
        return file
    }

    @Test("a list of another type and then a number: neither table of elements takes the name of the other")
    func putAside() throws {
        let file = try retyped()
        _ = try file.open(W3.Doc.self, version: 2, migration: { _ in })
        #expect(try file.open(W3.Doc.self, version: 2).read { try $0.objects(W3.Doc.self).map(\.tags) } == [7])
        try expectWhole(file)
    }

    @Test("a store that an earlier build left with two tables of one name opens again and can be salvaged")
    func damagedNames() throws {
        let file = try retyped()
        _ = try file.open(W3.Doc.self, version: 2, migration: { _ in })
        try file.rewriteSchema(W3.Doc.self, version: 2) { schema in
            let aside = try #require(schema.tables.firstIndex { $0.name == "Doc.tags#2#2" })
            #expect(schema.table("Doc.tags#2") != nil)
            schema.tables[aside].name = "Doc.tags#2"
        }
        #expect(try file.open(W3.Doc.self, version: 2).read { try $0.objects(W3.Doc.self).map(\.tags) } == [7])
        try expectWhole(file)
    }

    @Test("a class is deleted whose list was put aside for one of another type, with all its lists")
    func deletedOwner() throws {
        let file = try retyped()
        _ = try file.open(W2.Other.self, version: 2, migration: { try $0.deleteTable("Doc") })
        #expect(try file.schema(W2.Other.self, version: 2).tables.map(\.name) == ["Other"])
        try expectWhole(file)
    }

    @Test("a hidden list comes back empty with elements of another type, at the same version")
    func hiddenListOfAnotherType() throws {
        let file = SchemaFile()
        try file.open(W1.Doc.self).write { connection in
            let doc = W1.Doc()
            doc.tags.append("x")
            try connection.add(doc)
        }
        // Other processes do not keep elements of a table that they do not know.
        let hidden = try file.schema(W4.Doc.self, version: 1)
        for (model, isNew) in [(W1.Doc.self as StoredObject.Type, false), (W2.Doc.self, true)] {
            let request = SchemaRequest(models: [ModelLayout.declaration(of: model)], version: 1)
            let change = try SchemaChange(hidden, request)
            change.matchRest()
            #expect((change.newConnections != nil) == isNew)
            #expect(change.differences["Doc"] == [])
        }
        try file.open(W2.Doc.self, version: 1).write { connection in
            let doc = try #require(try connection.objects(W2.Doc.self).first)
            #expect(doc.tags.isEmpty)
            doc.tags.append(5)
        }
        let tags = try file.open(W2.Doc.self, version: 1).read { try $0.objects(W2.Doc.self).map { Array($0.tags) } }
        #expect(tags == [[5]])
        try expectWhole(file)
    }

    @Test("a list that gets the name of a hidden one does not get its elements")
    func renamed() throws {
        let file = try file()
        // `tags` is hidden, and `labels` is another list.
        try file.open(V5.Doc.self, version: 1).write { try $0.objects(V5.Doc.self).first?.labels.append("z") }
        _ = try file.open(V2.Doc.self, version: 2) { try $0.renameProperty(on: "Doc", from: "labels", to: "tags") }
        #expect(
            try file.open(V2.Doc.self, version: 2).read { try $0.objects(V2.Doc.self).map { Array($0.tags) } } == [
                ["z"]
            ])
        try expectWhole(file)
    }

    @Test("the table of a list is not deleted by itself, nor gone through once another has taken its place")
    func refusals() throws {
        let file = try file()
        let deletion = refusal {
            _ = try file.open(V2.Doc.self, version: 1, migration: { try $0.deleteTable("Doc.refs") })
        }
        #expect(deletion.contains("goes with the class that has the list"))
        let replaced = refusal {
            _ = try file.open(TagsAreNumbers.Doc.self, V1.Ref.self, version: 1) { migration in
                try migration.enumerate("Doc") { _, _ in }
                try migration.enumerate("Doc.tags") { _, _ in }
            }
        }
        #expect(replaced.contains("has been deleted or replaced"))
        #expect(
            try file.open(V1.Doc.self, V1.Ref.self).read { try $0.objects(V1.Doc.self).map { $0.refs.count } } == [2])
    }

    @Test("a schema that could not be read again is refused before anything is stored")
    func unreadable() throws {
        let file = try file()
        let text = refusal { _ = try file.open(V1.Doc.self, V1.Ref.self, Box<Int.Type>.self) }
        #expect(text.contains("'Box<Int.Type>'") && text.contains("nothing was changed"))
        #expect(
            try file.open(V1.Doc.self, V1.Ref.self).read { try $0.objects(V1.Doc.self).map { $0.refs.count } } == [2])
    }

    @Test("if one table cannot be read, the others are recovered, without links to it")
    func partlySalvaged() throws {
        let file = try file()
        try file.rewriteSchema(V1.Doc.self, V1.Ref.self) { schema in
            let ref = try #require(schema.tables.firstIndex { $0.name == "Ref" })
            schema.tables[ref].primaryKey = 7
        }
        #expect(refusal { _ = try file.open(V1.Doc.self, V1.Ref.self) }.contains("its schema"))
        #expect(try Store.verify(path: file.path).damage.contains("the schema of 'Ref' cannot be read"))
        try Store.salvage(path: file.path, to: file.path + "/new")
        let new = try Store(
            .init(path: file.path + "/new", models: [V1.Doc.self, V1.Ref.self], durability: .relaxed))
        try new.write { connection in
            let docs = try connection.objects(V1.Doc.self)
            #expect(docs.map { Array($0.tags) } == [["x", "y"]] && docs.first?.refs.isEmpty == true)
            // A new object of the lost class must leave the store whole.
            docs.first?.refs.append(V1.Ref())
        }
        #expect(try new.verify().isWhole)
        new.close()
    }
}

extension SchemaFile {
    /// Opens the store with these models, and returns the schema that it then has.
    fileprivate func schema(_ models: StoredObject.Type..., version: UInt64 = 0) throws -> StoreSchema {
        let storage = try Store(.init(path: path, models: models, durability: .relaxed, schemaVersion: version)).core
            .storage
        var transaction: LMDBTransaction?
        #expect(mdb_txn_begin(storage.environment, nil, UInt32(MDB_RDONLY), &transaction) == 0)
        defer { mdb_txn_abort(transaction) }
        return try #require(try StoreSchema.read(transaction!, storage.meta, path: path))
    }

    /// Rewrites the stored schema and its checksum, like a faulty build. Closes the store afterwards.
    fileprivate func rewriteSchema(
        _ models: StoredObject.Type..., version: UInt64 = 0, _ change: (inout StoreSchema) throws -> Void
    ) throws {
        let storage = try Store(.init(path: path, models: models, durability: .relaxed, schemaVersion: version)).core
            .storage
        var transaction: LMDBTransaction?
        #expect(mdb_txn_begin(storage.environment, nil, 0, &transaction) == 0)
        var schema = try #require(try StoreSchema.read(transaction!, storage.meta, path: path))
        try change(&schema)
        try schema.write(transaction!, storage.meta, path: path)
        #expect(mdb_txn_commit(transaction) == 0)
    }
}
