// Tests of stores whose files are removed, replaced or moved while they are in use, and of `Store.remove`.
import Foundation
import StillingWellFixtures
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Replaced files", .serialized, .onThreads)
struct ReplacedFileTests {
    /// A path that is removed with this object, together with the same path with `.old` and with `.copy`.
    private final class Place {
        let path: String
        private let parent: String

        init(in parent: String = NSTemporaryDirectory()) {
            self.parent = parent
            path = (parent.hasSuffix("/") ? parent : parent + "/") + "stillingwell-test-\(UUID().uuidString)"
        }

        deinit {
            for suffix in ["", ".old", ".copy"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }

        func open(_ durability: Durability = .full) throws -> Store {
            try Store(.init(path: path, models: Batches.models + [Note.self], durability: durability))
        }

        func move(_ from: String, _ to: String) throws {
            try FileManager.default.moveItem(atPath: path + from, toPath: path + to)
        }

        func copy(_ from: String, _ to: String) throws {
            try FileManager.default.copyItem(atPath: path + from, toPath: path + to)
        }

        func remove() throws { try FileManager.default.removeItem(atPath: path) }
    }

    private func add(_ id: Int, _ store: Store) throws { try store.write { try $0.add(Note(id: id)) } }

    private func ids(_ store: Store) throws -> [Int] {
        try store.read { try $0.objects(Note.self).sorted(by: \.id).map(\.id) }
    }

    private func expectReplaced(_ path: String, _ body: () throws -> Void) {
        #expect(throws: StoreError.replaced(path: path), performing: body)
    }

    @Test(
        "a store that is opened where its folder was deleted is new, whatever is held of the old one",
        arguments: Durability.allCases)
    func deleted(_ durability: Durability) throws {
        let place = Place(in: durability == .memory ? "/dev/shm" : NSTemporaryDirectory())
        let old = try place.open(durability)
        try add(1, old)
        let path = old.core.storage.directory
        let scheduler = ManualScheduler()
        let connection = try old.connect(on: .scheduler(scheduler))
        let token = try connection.objects(Note.self).observe { _ in }
        let frozen = try old.read { try $0.objects(Note.self).freeze() }
        let closed = try place.open(durability)
        closed.close()
        try place.remove()
        do {
            let new = try place.open(durability)
            #expect(try ids(new) == [])
            try add(2, new)
            expectReplaced(path) { try add(3, old) }
            expectReplaced(path) { try old.synchronize() }
            expectReplaced(path) { _ = try old.verify() }
            #expect(throws: StoreError.closed) { try add(3, closed) }
            #expect(frozen.map(\.id) == [1])
            try new.synchronize()
            #expect(try new.verify().isWhole)
            #expect(old.fileBytes > 0)
            // A mapping made by path would map the new store's pages.
            #expect(throws: EngineFailure.self) { try old.core.storage.replaceReadMap() }
            try add(4, new)
            #expect(try place.open(durability).read { try $0.objects(Note.self).count } == 2)
            if durability != .memory { #expect(throws: StoreError.self) { try Store.verify(path: place.path) } }
            withExtendedLifetime(new) {}
        }
        // The new store, which is closed, is whole beside the old one, which is still open.
        token.invalidate()
        if durability != .memory { #expect(try Store.verify(path: place.path).isWhole) }
        withExtendedLifetime((old, connection)) {}
    }

    @Test("a store that is gone does not block the path of the one opened there since")
    func oldGoesFirst() throws {
        let place = Place()
        var old: Store? = try place.open()
        try add(1, old!)
        try place.remove()
        let new = try place.open()
        try add(2, new)
        old = nil
        let again = try place.open()
        #expect(again.core.storage === new.core.storage)
        try add(3, again)
        #expect(try ids(new) == [2, 3])
    }

    @Test("a folder that is swapped for a backup is another store, and the first one again once it is moved back")
    func swapped() throws {
        let place = Place()
        do { try add(1, place.open()) }
        try place.copy("", ".copy")
        let store = try place.open()
        try add(2, store)
        try place.move("", ".old")
        expectReplaced(place.path) { try add(3, store) }
        expectReplaced(place.path) { try store.synchronize() }
        try place.move(".copy", "")
        expectReplaced(place.path) { try add(4, store) }
        do {
            let backup = try place.open()
            #expect(try ids(backup) == [1])
            try add(5, backup)
        }
        #expect(try ids(place.open()) == [1, 5])
        try place.move("", ".copy")
        try place.move(".old", "")
        let again = try place.open()
        #expect(again.core.storage === store.core.storage)
        try add(6, again)
        try add(7, store)
        // The commit without acknowledgement may be there.
        #expect(Set(try ids(store)).isSuperset(of: [1, 2, 6, 7]))
    }

    @Test("a folder that was moved is refused under its new name as long as this process has its files open")
    func moved() throws {
        let place = Place()
        let store = try place.open()
        try place.move("", ".old")
        let text = refusal { _ = try Store(.init(path: place.path + ".old", models: [Note.self])) }
        #expect(text.contains("has the same files open as the store at \(place.path),"), "\(text)")
        withExtendedLifetime(store) {}
    }

    @Test("a file that is replaced or removed while the store is open is an error of writes and of further openings")
    func singleFiles() throws {
        for name in ["data.mdb", "lock.mdb", "shared", "durable.mdb"] {
            for isReplaced in [true, false] {
                let place = Place()
                let store = try place.open()
                try add(1, store)
                try place.copy("/\(name)", "/held")
                if isReplaced { try place.copy("/\(name)", "/copy") }
                // The name of the file that the store has open is removed, or given to a copy.
                try FileManager.default.removeItem(atPath: "\(place.path)/\(name)")
                if isReplaced { try place.move("/copy", "/\(name)") }
                expectReplaced(place.path) { try add(2, store) }
                expectReplaced(place.path) { try add(3, store) }
                expectReplaced(place.path) { try store.synchronize() }
                let text = refusal { _ = try place.open() }
                #expect(
                    text.contains("\(name) was removed or replaced while this process has the store open"), "\(text)")
                guard name.hasSuffix("a.mdb") || name == "lock.mdb" else { continue }
                let other = try FixtureProcess(path: place.path, .full, ["open"])
                try other.waitForEnd()
                let said = other.output.value.lines.first ?? ""
                #expect(
                    said.contains("\(name) was removed or replaced while process \(getpid()) has the store open"),
                    "\(said)")
            }
        }
    }

    @Test("with `.relaxed`, and in memory, writes fail once a flush or a check has found the files gone")
    func noticedLater() throws {
        let place = Place()
        let store = try place.open(.relaxed)
        try add(1, store)
        try place.remove()
        expectReplaced(place.path) { try store.synchronize() }
        expectReplaced(place.path) { try add(2, store) }
        let memory = Place(in: "/dev/shm")
        let inMemory = try memory.open(.memory)
        try memory.remove()
        expectReplaced(memory.path) { for id in 0..<64 { try add(id, inMemory) } }
    }

    @Test("if the folder of one of two processes was deleted, that one acknowledges nothing")
    func twoProcesses() throws {
        let place = Place()
        let other = try FixtureProcess(path: place.path, .full, ["insert", "3"])
        try other.waitUntilReady()
        try place.remove()
        let store = try place.open()
        try other.go()
        try other.waitForEnd()
        #expect(other.lines.isEmpty, "\(other.lines)")
        #expect(try store.read { try $0.objects(Half.self).count } == 0)
        #expect(try store.write { try Batches.insert($0) } == 1)
    }

    // MARK: Removing

    @Test("removing a store takes its own files, and its folder if nothing else is in it")
    func removes() throws {
        let place = Place()
        #expect(try !Store.remove(path: place.path))
        #expect(!FileManager.default.fileExists(atPath: place.path))
        do { try add(1, place.open()) }
        #expect(try Store.remove(path: place.path))
        #expect(!FileManager.default.fileExists(atPath: place.path))
        do { try add(2, place.open()) }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: place.path + "/notes"))
        // The remains of an interrupted compaction, and a damaged file.
        try FileManager.default.createDirectory(atPath: place.path + "/compact", withIntermediateDirectories: true)
        try place.copy("/data.mdb", "/compact/data.mdb")
        try Data(repeating: 1, count: 9_000).write(to: URL(fileURLWithPath: place.path + "/data.mdb"))
        #expect(try Store.remove(path: place.path))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["notes"])
        #expect(try !Store.remove(path: place.path))
        #expect(try ids(place.open()) == [])
    }

    @Test("a store that is open is not removed, and the error names the process")
    func removesNoOpenStore() throws {
        let place = Place()
        var store: Store? = try place.open()
        try add(1, store!)
        store!.close()
        let error = StoreError.storeInUse(path: place.path, process: getpid())
        #expect(throws: error) { try Store.remove(path: place.path) }
        #expect("\(error)".contains("is open in this process: close it"))
        store = nil
        let other = try FixtureProcess(path: place.path, .full, ["hold"])
        try other.waitUntilReady()
        #expect(throws: StoreError.storeInUse(path: place.path, process: other.pid)) {
            try Store.remove(path: place.path)
        }
        try other.killNow()
        #expect(try ids(place.open()) == [1])
        #expect(try Store.remove(path: place.path))
    }

    @Test("a store in memory is removed with the folder that names it")
    func removesMemory() throws {
        let place = Place()
        do {
            let store = try place.open(.memory)
            #expect(throws: StoreError.storeInUse(path: store.core.storage.directory, process: getpid())) {
                try Store.remove(path: place.path)
            }
        }
        let other = try FixtureProcess(path: place.path, .memory, ["hold"])
        try other.waitUntilReady()
        try other.killNow()
        #expect(try Store.remove(path: place.path))
        #expect(!FileManager.default.fileExists(atPath: place.path))
        #expect(try !Store.remove(path: place.path))
    }
}
