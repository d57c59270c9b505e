// What a program must not do: each of these ends the process, with a message that its starter reads.
import Foundation
import LiveStore
import LiveStoreFixtures
import TracedSync

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

    /// Does it. What the runtime says of it goes to standard output.
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
        case .connectOutsideActor:
            let home = Home()
            TracedThread("abroad") { _ = try? store.connect(on: .actor(home)) }.join()
        }
        refuse("nothing stopped it")
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
