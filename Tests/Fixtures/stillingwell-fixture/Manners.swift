// Programs that get a line in the log but are not stopped.
import Foundation
import StillingWell
import StillingWellSync

/// A type that writes values which it cannot read, like those of a newer program.
struct Even: MappedValue {
    var number: Int

    init(_ number: Int) { self.number = number }
    init?(stored: Int) {
        guard stored.isMultiple(of: 2) else { return nil }
        number = stored
    }
    var stored: Int { number }
}

/// A class with properties of many kinds, some of them not stored.
final class Shelf: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored var size = Even(0)
    @Listed var names: List<String>
    @Transient var isOpen = false
    lazy var title = "shelf \(key)"
    var count: Int { names.count }
    var draft = ""
    let made = 0
}

/// Opens a store twice whose class has properties without a wrapper.
func openUnmarked(_ path: String, _ durability: Durability) throws {
    dup2(1, 2)
    for _ in 0..<2 { _ = try Store(.init(path: path, models: [Shelf.self], durability: durability)) }
}

/// Observes on a run loop that does not run. The store's clock advances by a second whenever it is read.
func observeUnserved(_ path: String, _ durability: Durability) throws {
    dup2(1, 2)
    let clock = Guarded<Int64>("clock", 0)
    var configuration = Store.Configuration(path: path, models: [Shelf.self], durability: durability)
    configuration.upkeepPollNs = 1_000_000
    configuration.upkeepNowNs = {
        clock.withLock {
            $0 += 1_000_000_000
            return $0
        }
    }
    let store = try Store(configuration)
    let thread = TracedThread("idle") {
        do {
            let token = try store.connect(on: .runLoop).objects(Shelf.self).observe { _ in }
            withExtendedLifetime(token) { while true { sleep(1) } }
        } catch {
            refuse("\(error)")
        }
    }
    thread.detach()
    // Waits until long after the warning.
    while clock.withLock({ $0 }) < 60_000_000_000 { usleep(1_000) }
    say("a minute has passed")
}

/// Observes on a queue while the system starts no threads, and on a run loop. Prints the first log line about the
/// queue.
func observeWithoutWorkers(_ path: String, _ durability: Durability) throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0, let log = fdopen(ends[0], "r") else { refuse("no pipe") }
    dup2(ends[1], 2)
    var configuration = Store.Configuration(path: path, models: [Shelf.self], durability: durability)
    configuration.upkeepPollNs = 1_000_000
    let clock = Guarded<Int64>("clock", 0)
    configuration.upkeepNowNs = {
        clock.withLock {
            $0 += 1_000_000_000
            return $0
        }
    }
    let store = try Store(configuration)
    var told = 0
    // The observer and a commit let the store start its threads.
    let token = try store.connect(on: .runLoop).objects(Shelf.self).observe { _ in told += 1 }
    func turn(until count: Int) { while told < count { RunLoop.main.run(mode: .default, before: .distantFuture) } }
    turn(until: 1)
    try store.write { try $0.add(Shelf()) }
    turn(until: 2)
    let before = try limitProcesses()
    let queue = DispatchQueue(label: "feed")
    let arrived = DispatchSemaphore(value: 0)
    let other = try queue.sync {
        try store.connect(on: .queue(queue)).objects(Shelf.self).observe { change in
            if case .initial(let shelves) = change { say("told of \(shelves.count)") }
            arrived.signal()
        }
    }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    while getline(&line, &capacity, log) > 0 {
        let text = String(cString: line!)
        if !text.contains("'feed'") { continue }
        say(String(text.dropLast()))
        break
    }
    // Queries are still kept up to date.
    try store.write { connection in
        let shelf = Shelf()
        shelf.key = 1
        try connection.add(shelf)
    }
    turn(until: 3)
    say("the run loop is told")
    allowProcesses(before)
    arrived.wait()
    withExtendedLifetime((token, other)) {}
}
