import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellSync
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Access to files", .serialized, .onThreads)
struct PrivacyTests {
    private static func newPath() -> String { NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)" }

    private static let files = ["shared", "data.mdb", "lock.mdb", "durable.mdb"]

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test("nothing is written through a link that stands where a store's file belongs", arguments: Durability.allCases)
    func links(_ durability: Durability) throws {
        // For `.memory` a folder on a memory file system, which holds the files directly.
        for name in Self.files {
            let parent = durability == .memory ? "/dev/shm/" : NSTemporaryDirectory()
            let path = parent + "stillingwell-test-\(UUID().uuidString)"
            let victim = Self.newPath()
            defer {
                try? FileManager.default.removeItem(atPath: path)
                try? FileManager.default.removeItem(atPath: victim)
            }
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let content = Data(repeating: 0x2a, count: 10_000)
            try content.write(to: URL(fileURLWithPath: victim))
            try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: victim)
            let text = refusal { _ = try Store(.init(path: path, models: [Note.self], durability: durability)) }
            #expect(text.contains("\(path)/\(name)") && text.contains("symbolic link"), "\(name): \(text)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == content, "\(name)")
            // A link to a missing file creates nothing.
            try FileManager.default.removeItem(atPath: victim)
            #expect(throws: StoreError.self) {
                try Store(.init(path: path, models: [Note.self], durability: durability))
            }
            #expect(!FileManager.default.fileExists(atPath: victim), "\(name)")
        }
    }

    @Test("files and folders of a store are for its user alone", arguments: [Durability.full, .relaxed])
    func modes(_ durability: Durability) throws {
        let old = umask(0)
        defer { umask(old) }
        let path = Self.newPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try Store(.init(path: path, models: [Note.self], durability: durability))
        for name in Self.files { #expect(mode(path + "/" + name) == 0o600, "\(name)") }
        #expect(mode(path) == 0o700)
        try store.compact(to: path + "/copy")
        #expect(mode(path + "/copy/data.mdb") == 0o600 && mode(path + "/copy") == 0o700)
    }

    @Test("files have the configured mode, whatever the process's umask")
    func askedModes() throws {
        let old = umask(0o077)
        defer { umask(old) }
        let path = Self.newPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try Store(.init(path: path, models: [Note.self], durability: .relaxed, fileMode: 0o640))
        for name in Self.files { #expect(mode(path + "/" + name) == 0o640, "\(name)") }
        #expect(mode(path) == 0o750)
        withExtendedLifetime(store) {}
    }

    @Test("the user's folder for stores in memory is used only if no other user has access")
    func memoryFolder() throws {
        let root = Self.newPath()
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let user = "\(root)/stillingwell-\(geteuid())"
        func refused() -> String { refusal { _ = try MemoryFolder.take(for: "/a/b", root: root) } }

        #expect(try MemoryFolder.take(for: "/a/b", root: root) == "\(user)/=a=b")
        #expect(mode(user) == 0o700 && mode("\(user)/=a=b") == 0o700)
        for wide: mode_t in [0o701, 0o720, 0o755, 0o1777] {
            chmod(user, wide)
            let text = refused()
            #expect(text.contains(user) && text.contains("must be this user's"), "\(text)")
        }
        chmod(user, 0o700)
        // Only root can change a folder's owner.
        if geteuid() == 0 {
            chown(user, 65_534, 65_534)
            let text = refused()
            #expect(text.contains(user) && text.contains("belongs to user 65534"), "\(text)")
            chown(user, 0, 0)
        }
        try FileManager.default.moveItem(atPath: user, toPath: "\(root)/elsewhere")
        try FileManager.default.createSymbolicLink(atPath: user, withDestinationPath: "\(root)/elsewhere")
        func expectRemedy(_ what: String) {
            let text = refused()
            #expect(text.contains(user) && text.contains(what) && text.contains("have it removed"), "\(text)")
        }
        expectRemedy("symbolic link")
        try FileManager.default.removeItem(atPath: user)
        try Data().write(to: URL(fileURLWithPath: user))
        expectRemedy("no folder")
        try FileManager.default.removeItem(atPath: user)
        let long = "/" + String(repeating: "x", count: 300)
        #expect(refusal { _ = try MemoryFolder.take(for: long, root: root) }.contains("at most 255 bytes"))
    }

    @Test("no two paths have one name in memory")
    func injective() {
        var random = SeededRandom(seed: SeededRandom.base)
        let letters = Array("/=%-3D25FaA")
        var paths: [String: String] = [:]
        for _ in 0..<20_000 {
            let path = "/" + String((0..<random.below(7)).map { _ in letters[random.below(letters.count)] })
            let name = MemoryFolder.name(of: path)
            #expect(!name.contains("/"))
            if let known = paths.updateValue(path, forKey: name) { #expect(known == path) }
        }
    }

    @Test("opening, closing and sweeping at the same time takes nothing from others")
    func openingWhileSweeping() throws {
        let base = Self.newPath()
        defer { try? FileManager.default.removeItem(atPath: base) }
        let threads = (0..<4).map { thread in
            TracedThread("opener") {
                for round in 0..<30 {
                    do {
                        let store = try Store(
                            .init(path: "\(base)/\(thread)-\(round % 2)", models: [Note.self], durability: .memory))
                        try store.write { try $0.add(Note(id: round)) }
                        #expect(try store.read { try $0.objects(Note.self).map(\.id) } == [round])
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        for thread in threads { thread.join() }
    }

    @Test("a sweep leaves a folder alone that was made in place of one that it had found")
    func sweepingWhatIsGone() throws {
        let folder = Self.newPath()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let found = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(found) }
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let page = try SharedPage(folder, .owner, deadlineNs: .max)
        MemoryFolder.removeIfUnused(found, at: folder)
        #expect(access(folder + "/shared", F_OK) == 0)
        withExtendedLifetime(page) {}
    }

    @Test("closing a store whose folder is gone leaves the one alone that was made in its place")
    func closingWhatIsGone() throws {
        let folder = Self.newPath()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func isAlone(_ page: SharedPage) -> Bool {
            var isAlone = false
            page.ifAlone(in: folder) { isAlone = true }
            return isAlone
        }
        let gone = try SharedPage(folder, .owner, deadlineNs: .max)
        gone.admitOthers()
        try FileManager.default.removeItem(atPath: folder)
        let page = try SharedPage(folder, .owner, deadlineNs: .max)
        page.admitOthers()
        #expect(!isAlone(gone))
        #expect(isAlone(page))
    }

    @Test("two paths in memory are two stores, whatever is in their names")
    func names() throws {
        let base = Self.newPath()
        defer { try? FileManager.default.removeItem(atPath: base) }
        let paths = ["x/c/a-b", "x/c-a/b", "x/c=a-b", "x=c/a-b", "x/c%3Da-b", "x/c%2Fa-b"].map { "\(base)/\($0)" }
        let stores = try paths.map { try Store(.init(path: $0, models: [Note.self], durability: .memory)) }
        for (number, store) in stores.enumerated() { try store.write { try $0.add(Note(id: number)) } }
        for (number, store) in stores.enumerated() {
            #expect(try store.read { try $0.objects(Note.self).map(\.id) } == [number], "\(paths[number])")
        }
    }

    @Test("memory of killed processes is swept by the next one, and nothing that is in use")
    func sweeping() throws {
        let test = try TestStore(Batches.models, durability: .memory)
        try test.store.write { try Batches.increment("kept", $0) }
        let inUse = Self.newPath()
        let killed = Self.newPath()
        let next = Self.newPath()
        defer { for path in [inUse, killed, next] { try? FileManager.default.removeItem(atPath: path) } }
        func present(_ path: String) throws -> Bool {
            let name = URL(fileURLWithPath: path).lastPathComponent
            let all = FileManager.default.enumerator(atPath: "/dev/shm")!.compactMap { $0 as? String }
            return all.contains { $0.contains(name) }
        }
        let living = try FixtureProcess(path: inUse, .memory, ["observe"])
        try living.waitUntilReady()
        let dead = try FixtureProcess(path: killed, .memory, ["observe"])
        try dead.waitUntilReady()
        #expect(try present(killed) && present(inUse))
        try dead.killNow()
        do {
            let store = try Store(.init(path: next, models: [Note.self], durability: .memory))
            #expect(try !present(killed))
            #expect(try present(inUse) && present(next))
            withExtendedLifetime(store) {}
        }
        // The two stores that are in use continue.
        try living.go()
        #expect(try living.waitForLines(1) == ["initial 0"])
        #expect(try test.store.read { try Batches.value("kept", $0) } == 1)
    }
}
