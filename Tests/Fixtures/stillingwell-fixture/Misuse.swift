// Programming errors and unreadable data. Each ends the process with a message that the starting process reads.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSync

enum Misuse: String {
    /// Using a connection of a run-loop thread on another thread.
    case otherThread
    /// Using a connection of a queue on another queue.
    case otherQueue
    /// Using an actor's connection outside of the actor.
    case outsideActor
    /// Connecting to an actor from outside of it.
    case connectOutsideActor
    /// Using an actor's connection in another actor.
    case otherActor
    /// Reading a property of a live object whose page is damaged.
    case damagedRow
    /// Reading a property of a live object with an invalid stored value, and a key path to a part of a value.
    case unknownValue, partOfValue
    /// Using an index outside of a collection.
    case outsideResults, outsideFrozen, outsideList, outsidePlainList, insertOutside

    /// Makes the error, which ends the process. The runtime's message goes to standard output.
    func commit(_ store: Store) throws -> Never {
        dup2(1, 2)
        nonisolated(unsafe) var connection: Connection?
        switch self {
        case .otherThread:
            let thread = RunLoopThread("home")
            try thread.performAndWait { connection = try store.connect(on: .runLoop) }
            TracedThread("abroad") { _ = try? connection?.objects(Half.self) }.join()
        case .otherQueue:
            let queue = DispatchQueue(label: "home")
            try queue.sync { connection = try store.connect(on: .queue(queue)) }
            DispatchQueue(label: "abroad").sync { _ = try? connection?.objects(Half.self) }
        case .outsideActor:
            let abroad = open(store)
            TracedThread("abroad") { _ = try? abroad.connection?.objects(Half.self) }.join()
        case .otherActor:
            let abroad = open(store)
            let done = DispatchSemaphore(value: 0)
            Task {
                await Abroad().use(abroad)
                done.signal()
            }
            done.wait()
        case .damagedRow:
            try store.write { try Batches.insert($0) }
            let live = try store.connect(on: .runLoop)
            let half = try live.object(Half.self, forPrimaryKey: 0)
            try damageRows(store)
            say("read \(half?.amount ?? -1)")
        case .unknownValue:
            try store.write { connection in
                let shelf = Shelf()
                shelf.size = Even(3)
                try connection.add(shelf)
            }
            say("read \(try store.connect(on: .runLoop).objects(Shelf.self)[0].size)")
        case .partOfValue: try store.read { _ = try $0.objects(Shelf.self).where(\.size.number == 3) }
        case .outsideResults: try store.read { _ = try $0.objects(Half.self)[0] }
        case .outsideFrozen:
            try store.write { try Batches.insert($0) }
            _ = try store.read { try $0.objects(Half.self).where(\.key == 0).freeze() }[3]
        case .outsideList: try withShelf(store) { _ = $0.names[2] }
        case .insertOutside: try withShelf(store) { $0.names.insert("c", at: 3) }
        case .outsidePlainList: _ = Shelf().names[1]
        case .connectOutsideActor:
            let home = Home()
            TracedThread("abroad") { _ = try? store.connect(on: .actor(home)) }.join()
        }
        refuse("nothing stopped it")
    }

    /// Calls `body` in a write with a shelf that has two names.
    private func withShelf(_ store: Store, _ body: (Shelf) -> Void) throws {
        try store.write { connection in
            let shelf = Shelf()
            shelf.names = ["a", "b"]
            try connection.add(shelf)
            body(shelf)
        }
    }

    /// Clears the page type of all pages except the first two.
    private func damageRows(_ store: Store) throws {
        let file = store.configuration.path + "/data.mdb"
        let descriptor = Glibc.open(file, O_RDWR)
        let none: [UInt8] = [0, 0]
        let bytes = Int(lseek(descriptor, 0, SEEK_END))
        for page in stride(from: 2 * 4_096, to: bytes, by: 4_096) {
            guard pwrite(descriptor, none, 2, off_t(page + 10)) == 2 else { refuse("cannot write to \(file)") }
        }
    }

    private func open(_ store: Store) -> Smuggled {
        let home = Home()
        let done = DispatchSemaphore(value: 0)
        let taken = Smuggled()
        Task {
            await home.open(store, taken)
            taken.home = home
            done.signal()
        }
        done.wait()
        return taken
    }
}

/// Carries a connection to where it must not be used.
private final class Smuggled: @unchecked Sendable {
    var connection: Connection?
    var home: Home?
}

private actor Abroad {
    func use(_ taken: Smuggled) { _ = try? taken.connection?.objects(Half.self) }
}

private actor Home {
    func open(_ store: Store, _ taken: Smuggled) { taken.connection = try? store.connect(on: .actor(self)) }
}
