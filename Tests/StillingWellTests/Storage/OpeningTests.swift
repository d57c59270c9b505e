import CStillingWellPlatform
import Foundation
import StillingWellFixtures
import StillingWellSync
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Opening", .serialized, .onThreads)
struct OpeningTests {
    private static func newPath() -> String { NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)" }

    @Test("a store that a power cut interrupted while it was made is made again, from many incomplete states")
    func interrupted() throws {
        let made = Self.newPath()
        defer { try? FileManager.default.removeItem(atPath: made) }
        do { _ = try Store(.init(path: made, models: [], durability: .full)) }
        let files = try ["data.mdb", "lock.mdb", "shared"].map {
            ($0, try Data(contentsOf: URL(fileURLWithPath: "\(made)/\($0)")))
        }
        // The engine first writes two pages. A file system may keep the length without the bytes.
        var states: [[(String, Data)]] = []
        for (name, data) in files {
            let most = min(data.count, name == "data.mdb" ? 8_191 : data.count)
            for bytes in [0, 1, 15, 16, 100, 4_095, 4_096, 4_097, 6_000, 8_191] where bytes <= most {
                states.append([(name, Data(count: bytes))])
                if name != "data.mdb" { states.append([(name, data.prefix(bytes))]) }
            }
        }
        states.append([("data.mdb", Data(count: 8_192))])
        // Files that are being made have other names until they are complete.
        let noise = Data((0..<9_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for bytes in [0, 100, 4_096, 9_000] {
            states.append([("data.new", noise.prefix(bytes)), ("data.new-lock", noise.prefix(bytes))])
            states.append([("data.new", files[0].1.prefix(bytes)), ("data.new-lock", files[1].1)])
        }
        states.append([("data.new", files[0].1), ("lock.mdb", files[1].1)])
        states += [0, 1, 100, 4_096].map { [("data.mdb", Data(count: 0)), ("lock.mdb", files[1].1.prefix($0))] }
        for state in states {
            let path = Self.newPath()
            defer { try? FileManager.default.removeItem(atPath: path) }
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (name, data) in state { try data.write(to: URL(fileURLWithPath: "\(path)/\(name)")) }
            let place: Comment = "\(state.map { "\($0.0) \($0.1.count)" })"
            for _ in 0..<2 {
                do {
                    let store = try Store(.init(path: path, models: [Note.self], durability: .full))
                    try store.write { try $0.add(Note(id: Int.random(in: 0..<1 << 40))) }
                } catch {
                    Issue.record(error, place)
                }
            }
        }
    }

    @Test("a store whose creation fails leaves no data file, and a new one has no temporary files")
    func unfinished() throws {
        let path = Self.newPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: StoreError.self) { try Store(.init(path: path, models: [WithoutProperties.self])) }
        #expect(!FileManager.default.fileExists(atPath: path + "/data.mdb"))
        try Store(.init(path: path, models: [Note.self])).write { try $0.add(Note(id: 1)) }
        let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        #expect(files == ["data.mdb", "durable.mdb", "lock.mdb", "shared"])
    }

    @Test("behind a stopped writer, opening gives up within its time limit and names the process")
    func behindStoppedWriter() throws {
        let path = Self.newPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let holder = try FixtureProcess(path: path, .relaxed, ["hold"])
        try holder.waitUntilReady()
        try holder.go()
        try holder.waitForLines(1)
        try holder.pause()
        var configuration = Store.Configuration(path: path, models: Batches.models, durability: .relaxed)
        let models = configuration.models
        configuration.models += [Note.self]
        for limit in [Duration.milliseconds(20), .zero, .seconds(-1)] {
            configuration.openTimeout = limit
            let text = refusal { _ = try Store(configuration) }
            #expect(text.contains(path) && text.contains("process \(holder.pid) holds its write lock"), "\(text)")
            #expect(text.contains("openTimeout"), "\(text)")
        }
        // If the store has everything that the models need, opening waits for no process and wakes none.
        configuration.openTimeout = .zero
        configuration.models = models
        let store = try Store(configuration)
        let rung = store.core.storage.page.bellCount
        let other = try FixtureProcess(path: path, .relaxed, ["freeze", "1"])
        try other.go()
        try other.waitForLines(1)
        #expect(store.core.storage.page.bellCount == rung)
        try other.killNow()
        store.close()
        holder.resume()
        try holder.killNow()
        configuration.openTimeout = nil
        #expect(try Store(configuration).write { try Batches.insert($0) } == 1)
    }

    @Test("opening also gives up while another opening holds the folder's lock, and names its process")
    func behindStoppedOpener() throws {
        let path = Self.newPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let folder = open(path, O_RDONLY | O_CLOEXEC)
        try #require(flock(folder, LOCK_EX) == 0)
        let configuration = Store.Configuration(
            path: path, models: Batches.models, durability: .relaxed, openTimeout: .milliseconds(20))
        let text = refusal { _ = try Store(configuration) }
        #expect(text.contains(path) && text.contains("process \(getpid()) is opening it"), "\(text)")
        // Once the lock is released, the store is opened.
        close(folder)
        _ = try Store(configuration)
    }

    @Test("snapshots of a killed process are available to others, also in a store without writers")
    func killedReaders() throws {
        let test = try TestStore(Batches.models)
        let other = try FixtureProcess(test, "freeze", "\(LMDB.maxReaders - 8)")
        try other.go()
        try other.waitForLines(1)
        #expect(throws: StoreError.tooManySnapshots(limit: Int(LMDB.maxReaders))) { try freeze(20, test.store) }
        try other.killNow()
        other.waitUntilReaped()
        try freeze(20, test.store)
    }

    private func freeze(_ count: Int, _ store: Store) throws {
        let frozen = try (0..<count).map { _ in try store.read { try $0.objects(Half.self).freeze() } }
        #expect(frozen.allSatisfy { $0.isEmpty })
    }

    @Test("a forked child refuses the inherited store and can open its own", arguments: [Durability.relaxed, .memory])
    func fork(_ durability: Durability) throws {
        let test = try TestStore(Batches.models, durability: durability)
        let parent = try FixtureProcess(test, "fork")
        try parent.go()
        // The parent's store, then the child's, then the parent's again.
        let lines = try parent.waitForLines(9)
        #expect(
            lines == [
                "parent 1", "inherited refused", "child 2", "child sees 2", "child ended 0", "parent 3",
                "parent's snapshot 1", "parent alone false", "file below 64 MB true",
            ])
        #expect(try test.store.read { try Batches.value("batches", $0) } == 3)
        #expect(try test.store.write { try Batches.insert($0) } == 4)
        try parent.waitForEnd()
    }

    @Test("a thread that cannot be started is an error of the call that needs it, and the store continues")
    func threads() throws {
        let test = try TestStore(Batches.models)
        let fixture = try FixtureProcess(test, "threadless")
        try fixture.waitForEnd()
        let lines = fixture.lines
        try #require(lines.count == 5, "\(lines)")
        for line in lines[0..<2] {
            #expect(line.contains("cannot start thread 'well-") && line.contains("ulimit -u"), "\(line)")
        }
        #expect(lines[2] == "wrote 1")
        #expect(lines[3] == "connected" && lines[4] == "wrote 2")
    }

    @Test("a run loop without descriptors is an error of the call that needs it, and the store continues")
    func descriptors() throws {
        let test = try TestStore(Batches.models)
        let fixture = try FixtureProcess(test, "filled")
        try fixture.waitForEnd()
        let lines = fixture.lines
        try #require(lines.count == 5, "\(lines)")
        #expect(lines[0].contains("no descriptors are left for the run loop of thread 'observer'"), "\(lines[0])")
        #expect(lines[0].contains("raise the limit of open files (ulimit -n)"), "\(lines[0])")
        #expect(lines[1].contains("connect"), "\(lines[1])")
        #expect(lines[2].contains("cannot start thread 'feed'") && lines[2].contains("ulimit -n"), "\(lines[2])")
        #expect(lines[3].hasPrefix("connected at") && lines[4] == "wrote 1", "\(lines)")
    }
}

private final class WithoutProperties: StoredObject {}
