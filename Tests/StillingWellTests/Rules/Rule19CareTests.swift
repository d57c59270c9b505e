// Rule 19. Full disks, files that are no store or are damaged, stores in memory, compacting, and closing.
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellSync
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Rule 19: care of the file", .serialized, .onThreads)
struct Rule19CareTests {
    /// A folder that is removed with this object.
    private final class Folder {
        let path: String
        init(in parent: String = NSTemporaryDirectory()) throws {
            path = (parent.hasSuffix("/") ? parent : parent + "/") + "stillingwell-test-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }
        var data: String { path + "/data.mdb" }

        func open(_ durability: Durability = .relaxed) throws -> Store {
            try Store(.init(path: path, models: [Note.self], durability: durability))
        }

        /// Makes a closed store with notes.
        func fill(notes: Int, titleBytes: Int = 100) throws {
            try open().write { connection in
                for id in 0..<notes {
                    try connection.add(Note(id: id, title: String(repeating: "x", count: titleBytes)))
                }
            }
        }

        func size() throws -> Int {
            try #require(try FileManager.default.attributesOfItem(atPath: data)[.size] as? Int)
        }
    }

    // MARK: No room

    /// Checks the lines: counts, the error, what is left, whether it is whole, and the same with more room.
    private func expectFull(_ lines: [String]) throws -> Int {
        let acknowledged = lines.prefix { Int($0) != nil }.compactMap { Int($0) }
        let rest = Array(lines.dropFirst(acknowledged.count))
        let count = try #require(acknowledged.last)
        try #require(rest.count == 5, "\(rest)")
        #expect(rest[0].hasPrefix("error the file system of") && rest[0].hasSuffix("and retry"), "\(rest)")
        #expect(rest.dropFirst() == ["left \(count)", "whole", "then \(count + 1)", "whole"])
        return count
    }

    @Test("a file that may not grow is an error; nothing acknowledged is lost", arguments: [Durability.full, .relaxed])
    func fileLimit(_ durability: Durability) throws {
        let test = try TestStore(Batches.models, durability: durability)
        let fixture = try FixtureProcess(test, "limit", "600")
        try fixture.go()
        try fixture.output.wait("the end") {
            $0.lines.last == "whole" && $0.lines.dropLast().last?.first == "t" || $0.isOver
        }
        let count = try expectFull(fixture.lines)
        #expect(try test.store.read { try Batches.value("batches", $0) } == count + 1)
        #expect(try test.store.read { try Batches.violation(from: 0, $0) } == nil)
        #expect(try test.store.write { try Batches.insert($0) } == count + 2)
    }

    @Test(
        "a full file system is an error, also where files are written through the map; nothing acknowledged is lost",
        arguments: Durability.allCases)
    func diskFull(_ durability: Durability) throws {
        // An in-memory store reserves room in steps of up to 8 MiB.
        let folder = try Folder()
        let fixture = try FixtureProcess(
            path: folder.path, durability, ["fill", durability == .memory ? "10240" : "1024"])
        try fixture.waitForEnd()
        let lines = fixture.output.value.lines
        if lines == ["unavailable"] {
            print("no file systems may be mounted here: that full ones are errors is not tested")
            return
        }
        _ = try expectFull(lines)
    }

    // MARK: Files that are not a store, or are damaged

    @Test("a file that is no store, or another thing in its place, is refused with what to do")
    func wrongFiles() throws {
        var random = SeededRandom(seed: SeededRandom.base)
        for bytes in [1, 100, 4_096, 200_000] {
            let folder = try Folder()
            // The bytes are not zero. A file of zeros is what a crashed machine can leave while a store is made.
            let noise = Data((0..<bytes).map { _ in UInt8(1 + random.below(255)) })
            try noise.write(to: URL(fileURLWithPath: folder.data))
            let text = refusal { _ = try folder.open() }
            #expect(text.contains(folder.path) && text.contains("restore it from a backup"), "\(bytes) bytes: \(text)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder.data)) == noise, "it is left as it was")
        }
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.data, withIntermediateDirectories: true)
        #expect(refusal { _ = try folder.open() }.contains("something else is in its place"))
        let file = try Folder()
        try Data().write(to: URL(fileURLWithPath: file.path + "/x"))
        #expect(refusal { _ = try Store(.init(path: file.path + "/x", models: [Note.self])) }.contains("/x"))
    }

    @Test("an empty file is opened as a new store, because a crash during creation leaves one")
    func emptyFile() throws {
        let folder = try Folder()
        try Data().write(to: URL(fileURLWithPath: folder.data))
        try folder.open().write { try $0.add(Note(id: 1)) }
        #expect(try folder.open().read { try $0.objects(Note.self).count } == 1)
    }

    @Test("a file that has lost its end is refused, not read up to a bus error, and stays as it is")
    func truncated() throws {
        let folder = try Folder()
        try folder.fill(notes: 5_000)
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder.data))
        for keep in [0.9, 0.5, 0.1] {
            let bytes = Int(Double(whole.count) * keep) / 4_096 * 4_096
            #expect(truncate(folder.data, off_t(bytes)) == 0)
            #expect(refusal { _ = try folder.open() }.contains("its end is lost; restore it"))
            #expect(try folder.size() == bytes)
        }
        try whole.write(to: URL(fileURLWithPath: folder.data))
        #expect(try folder.open().read { try $0.objects(Note.self).count } == 5_000)
    }

    @Test("a file that ends in free pages is whole, though they may never have been written")
    func freeEnd() throws {
        let folder = try Folder()
        try folder.fill(notes: 2_000)
        do {
            let store = try folder.open()
            try store.write { connection in
                for note in try connection.objects(Note.self) where note.id >= 100 { try connection.delete(note) }
            }
            // Two more commits, each after a flush, so that the freed pages are in the newest free list.
            for id in 1...2 {
                try store.synchronize()
                try store.write { try $0.add(Note(id: -id)) }
            }
        }
        let size = try folder.size()
        #expect(truncate(folder.data, off_t(size - 8_192)) == 0)
        #expect(try folder.open().read { try $0.objects(Note.self).count } == 102)
    }

    @Test("a store whose folder is not writable is refused with a remedy")
    func permissions() throws {
        let folder = try Folder()
        try folder.fill(notes: 1)
        #expect(chmod(folder.data, 0o444) == 0 && chmod(folder.path + "/shared", 0o444) == 0)
        #expect(chmod(folder.path, 0o555) == 0)
        defer { chmod(folder.path, 0o755) }
        let other = try FixtureProcess(path: folder.path, .relaxed, ["denied"])
        try other.waitForEnd()
        let text = try #require(other.output.value.lines.first)
        #expect(text.contains("Permission denied") && text.contains("the right to read and write"), "\(text)")
    }

    @Test("a store that is locked by something else is given up after a while, with what to do")
    func locked() throws {
        let folder = try Folder()
        let file = open(folder.path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(flock(file, LOCK_EX) == 0)
        let error = #expect(throws: StoreError.self) {
            try SharedPage(folder.path, .owner, deadlineNs: monotonicNs() + 20_000_000)
        }
        #expect("\(error!)".contains("holds its lock; end that process, or try again"))
    }

    @Test("a damaged shared page is replaced by a process that opens the store alone, and its slots are not trusted")
    func sharedPage() throws {
        let folder = try Folder()
        try folder.fill(notes: 3)
        var random = SeededRandom(seed: SeededRandom.base)
        func noise(_ count: Int) -> Data { Data((0..<count).map { _ in UInt8(random.below(256)) }) }
        for bytes in [0, 10, 4_096, 9_000] {
            try noise(bytes).write(to: URL(fileURLWithPath: folder.path + "/shared"))
            try folder.open().write { try $0.add(Note(id: 1_000 + bytes)) }
        }
        // Overwrites the words for signals and turns, and the slots, of an open store, but not the locks.
        let store = try folder.open()
        let file = open(folder.path + "/shared", O_RDWR)
        defer { close(file) }
        for _ in 0..<20 {
            let words = noise(20)
            let slots = noise(96 * 32)
            #expect(words.withUnsafeBytes { pwrite(file, $0.baseAddress, 20, 8) } == 20)
            #expect(slots.withUnsafeBytes { pwrite(file, $0.baseAddress, slots.count, 512) } == slots.count)
            // Enough commits to prune the log, and over all rounds to check for dead readers.
            for _ in 0..<70 { try store.write { try #require(try $0.object(Note.self, forPrimaryKey: 0)).score += 1 } }
        }
        let connection = try store.connect(on: .scheduler(ManualScheduler()))
        #expect(try connection.objects(Note.self).sorted(by: \.id).first?.score == 1_400)
    }

    // MARK: Memory

    /// Files of in-memory stores in the shared folder whose name contains `name`.
    private func leftovers(_ name: String) throws -> [String] {
        let folder = "/dev/shm/stillingwell-\(geteuid())"
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(name) }
    }

    @Test("processes that use one store in memory use one folder, and may open it while a handle is closed")
    func memoryLeavesNothing() throws {
        let test = try TestStore(Batches.models, durability: .memory)
        let name = URL(fileURLWithPath: test.path).lastPathComponent
        #expect(try leftovers(name).count == 1)
        let path = test.path
        try Self.useInProcesses(test)
        #expect(try leftovers(name).count == 1, "this process has it open")
        // Another process opens the store while this one opens and closes a second handle, ten times.
        for _ in 0..<10 {
            let other = try FixtureProcess(path: path, .memory, ["increment", "n", "1", "0"])
            let store = try Store(.init(path: path, models: Batches.models, durability: .memory))
            try store.write { try Batches.increment("n", $0) }
            try other.waitUntilReady()
            try other.go()
            try other.waitForEnd()
        }
        withExtendedLifetime(test) {}
    }

    private static func useInProcesses(_ test: TestStore) throws {
        let others = try (0..<3).map { _ in try FixtureProcess(test, "insert", "5") }
        for other in others { try other.go() }
        for other in others { try other.waitForEnd() }
        #expect(try test.store.read { try Batches.value("batches", $0) } == 15)
    }

    @Test("the folder of a closed store in memory remains while a frozen collection exists, and is gone with it")
    func memoryFolder() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let name = URL(fileURLWithPath: path).lastPathComponent
        var frozen: FrozenResults<Note>?
        do {
            let store = try Store(.init(path: path, models: [Note.self], durability: .memory))
            try store.write { try $0.add(Note(id: 1)) }
            frozen = try store.read { try $0.objects(Note.self).freeze() }
            store.close()
        }
        #expect(frozen?.first?.id == 1)
        #expect(try leftovers(name).count == 1)
        frozen = nil
        #expect(try leftovers(name).isEmpty)
    }

    // MARK: Compacting

    @Test("a compact copy has the content of its version in less than a third of the file, and is a store of its own")
    func compactCopy() throws {
        let folder = try Folder()
        try folder.fill(notes: 4_000)
        let store = try folder.open()
        try store.write { connection in
            for note in try connection.objects(Note.self) where note.id >= 400 { try connection.delete(note) }
        }
        let target = try Folder()
        try store.compact(to: target.path + "/copy")
        try store.write { try $0.add(Note(id: 100_000)) }
        let copy = try Store(.init(path: target.path + "/copy", models: [Note.self], durability: .relaxed))
        #expect(try copy.read { try $0.objects(Note.self).sorted(by: \.id).map(\.id) } == Array(0..<400))
        #expect(copy.fileBytes * 3 < store.fileBytes)
        // The copy can be written like any store.
        let version = try copy.read { $0.version }
        try copy.write { try $0.add(Note(id: 400)) }
        #expect(try copy.read { $0.version } == version + 1)
        #expect(refusal { try store.compact(to: target.path + "/copy") }.contains("it exists"))
        store.close()
        #expect(throws: StoreError.closed) { try store.compact(to: target.path + "/again") }
    }

    @Test("a store is compacted in place when nobody has it open, and refused while somebody has")
    func compactInPlace() throws {
        let folder = try Folder()
        try folder.fill(notes: 4_000)
        let configuration = Store.Configuration(
            path: folder.path, models: Batches.models + [Note.self], durability: .relaxed)
        do {
            let store = try Store(configuration)
            try store.write { connection in
                for note in try connection.objects(Note.self) where note.id >= 400 { try connection.delete(note) }
            }
            #expect(throws: StoreError.self) { try Store.compact(configuration) }
            withExtendedLifetime(store) {}
        }
        let before = try folder.size()
        let other = try FixtureProcess(path: folder.path, .relaxed, ["hold"])
        try other.waitUntilReady()
        #expect(
            refusal { try Store.compact(configuration) }.contains("is open in process \(other.pid): close it, here"))
        try other.killNow()
        try Store.compact(configuration)
        #expect(try folder.size() * 3 < before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "data.mdb", "durable.mdb", "lock.mdb", "shared",
            ])
        let store = try Store(configuration)
        #expect(try store.read { try $0.objects(Note.self).sorted(by: \.id).map(\.id) } == Array(0..<400))
        try store.write { try $0.add(Note(id: 400)) }
        let nowhere = try Folder()
        #expect(refusal { try Store.compact(.init(path: nowhere.path, models: [])) }.contains("there is no store"))
    }

    // MARK: Closing

    @Test("closing from several threads and from inside callbacks ends deliveries and hangs no thread")
    func closing() throws {
        for round in 0..<20 {
            let test = try TestStore(durability: .memory)
            let store = test.store
            let calls = Watched(0)
            let late = Watched(0)
            let threads = (0..<3).map { RunLoopThread("closing-\($0)") }
            nonisolated(unsafe) var tokens: [NotificationToken] = []
            for thread in threads {
                try thread.performAndWait {
                    let connection = try store.connect(on: .runLoop)
                    tokens.append(
                        try connection.objects(Note.self).observe { _ in
                            if !store.core.isOpen { late.update { $0 += 1 } }
                            calls.update { $0 += 1 }
                            // Some callbacks close the store during a delivery.
                            if calls.value > 3 + round % 5 { store.close() }
                        })
                }
            }
            let others = (0..<3).map { number in
                TracedThread("closer") {
                    do {
                        for id in 0..<40 { try store.write { try $0.add(Note(id: number * 1_000 + id)) } }
                    } catch {
                        #expect(error as? StoreError == .closed)
                    }
                    store.close()
                }
            }
            for other in others { other.join() }
            let seen = calls.value
            #expect(throws: StoreError.closed) { try store.write { _ in } }
            #expect(throws: StoreError.closed) { try store.read { _ in } }
            #expect(throws: StoreError.closed) { try store.connect(on: .scheduler(ManualScheduler())) }
            for thread in threads { try thread.performAndWait {} }
            // After the close no callback begins, except for at most one per thread whose delivery was in progress.
            #expect(calls.value <= seen + threads.count)
            try threads[0].performAndWait { tokens.removeAll() }
            for thread in threads { thread.stop() }
            let again = try Store(store.configuration)
            try again.write { try $0.add(Note(id: 1_000_000)) }
        }
    }

    @Test("the last reference to a store may go on any thread, its own upkeep included")
    func lastReference() throws {
        /// An object that closes the store in its deinitializer, like an object of an application.
        final class Closer {
            let store: Store
            init(_ store: Store) { self.store = store }
            deinit { store.close() }
        }
        for _ in 0..<20 {
            let test = try TestStore(durability: .memory)
            let scheduler = ManualScheduler()
            var connection: Connection? = try test.store.connect(on: .scheduler(scheduler))
            let closer = Closer(test.store)
            let token = try connection!.objects(Note.self).observe { _ in withExtendedLifetime(closer) {} }
            try scheduler.turn { connection!.version >= 0 }
            token.invalidate()
            connection = nil
        }
    }
}
