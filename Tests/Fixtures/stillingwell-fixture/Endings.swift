// Delivery contexts that end before, during and after a write, with and without observers. Afterwards the process must
// not hold more resources than before.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSync

/// Objects that remain after a delivery context has ended.
final class Remains: @unchecked Sendable {
    // `@unchecked` because the delivery context uses it first, and afterwards only the main thread.
    var token: NotificationToken?
    weak var connection: Connection?
    /// Keeps the connection itself.
    var kept: Connection?

    func release() { (token, kept) = (nil, nil) }
}

struct Ending {
    enum Place: CaseIterable { case runLoop, runLoopThread, queue, actor, lodger, executor }
    enum Write: CaseIterable { case before, open, committed, cancelled, block }
    enum Observer: CaseIterable { case none, invalidatedThere, invalidatedHere, released }

    let place: Place
    let write: Write
    let observer: Observer
    /// Whether the connection is retained after the end of its delivery context.
    let isKept: Bool

    static let all: [Ending] = Place.allCases.flatMap { place in
        Write.allCases.flatMap { write in
            Observer.allCases.flatMap { observer in
                [false, true].map { Ending(place: place, write: write, observer: observer, isKept: $0) }
            }
        }
    }

    /// Uses the connection on the delivery context, which ends afterwards.
    func use(_ connection: Connection, _ remains: Remains) throws {
        remains.connection = connection
        if isKept { remains.kept = connection }
        if observer != .none {
            let halves = try connection.objects(Half.self)
            remains.token = try halves.observe { [halves] _ in _ = halves.count }
        }
        switch write {
        case .before: break
        case .open:
            try connection.beginWrite()
            try Batches.insert(connection)
        case .committed:
            try connection.beginWrite()
            try Batches.increment("committed", connection)
            try connection.commitWrite()
        case .cancelled:
            try connection.beginWrite()
            try Batches.insert(connection)
            try connection.cancelWrite()
        case .block: try connection.write { _ = try Batches.increment("committed", connection) }
        }
        if observer == .invalidatedThere { remains.token?.invalidate() }
    }

    /// Releases the remaining objects after the delivery context has ended.
    func finish(_ remains: Remains) {
        if observer == .invalidatedHere { remains.token?.invalidate() }
        remains.release()
    }
}

private actor Guest {
    func use(_ store: Store, _ ending: Ending, _ remains: Remains) throws {
        try ending.use(try store.connect(on: .actor(self)), remains)
    }
}

/// An actor that runs on a run-loop thread.
private actor ThreadGuest {
    private nonisolated let thread: RunLoopThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: RunLoopThread) { self.thread = thread }

    func use(_ store: Store, _ ending: Ending, _ remains: Remains, onExecutor: Bool) throws {
        let site: Store.Site = onExecutor ? .executor(thread) : .actor(self)
        try ending.use(try store.connect(on: site), remains)
    }
}

extension Ending {
    /// Blocks the calling thread until a task has ended.
    private static func waitFor(_ body: @escaping @Sendable () async throws -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task {
            do { try await body() } catch { refuse("\(error)") }
            done.signal()
        }
        done.wait()
    }

    /// Runs the case to its end. An open write is cancelled with the connection or with its delivery context.
    func run(_ store: Store) -> Remains {
        let remains = Remains()
        @Sendable func use(_ site: Store.Site) {
            do { try self.use(try store.connect(on: site), remains) } catch { refuse("\(self): \(error)") }
        }
        switch place {
        case .runLoop: TracedThread("ending") { use(.runLoop) }.join()
        case .runLoopThread:
            let thread = RunLoopThread("ending")
            try? thread.performAndWait { use(.runLoop) }
            thread.stop()
        case .queue:
            let queue = DispatchQueue(label: "ending")
            TracedThread("ending") { queue.sync { use(.queue(queue)) } }.join()
        case .actor: Self.waitFor { try await Guest().use(store, self, remains) }
        case .lodger, .executor:
            let thread = RunLoopThread("ending")
            Self.waitFor { try await ThreadGuest(thread).use(store, self, remains, onExecutor: place == .executor) }
            thread.stop()
        }
        finish(remains)
        return remains
    }
}

private func descriptors() -> Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count
}

/// Runs all cases once, and then `count` more, and reports resources that remain.
func endInEveryState(_ store: Store, count: Int) throws {
    // The first round creates resources that the process keeps, such as threads of the concurrency pool.
    var all = Ending.all.map { $0.run(store) }
    func leftovers() throws -> String? {
        let left = all.indices.filter { all[$0].connection != nil }
        if let first = left.first { return "\(left.count) connections, as of \(Ending.all[first % Ending.all.count])" }
        do { try store.write(timeout: .zero) { _ = try Batches.increment("look", $0) } } catch { return "\(error)" }
        if let pin = store.oldestPin { return "version \(pin.version), held for \(pin.age ?? .zero)" }
        return nil
    }
    /// Waits, because queues, actors and upkeep release objects with a delay.
    func settle(_ isSettled: () throws -> String?) throws -> String? {
        for _ in 0..<60_000 {
            guard try isSettled() != nil else { return nil }
            usleep(1_000)
        }
        return try isSettled()
    }
    if let left = try settle(leftovers) { return say("left before: \(left)") }
    let before = descriptors()
    for number in 0..<count { all.append(Ending.all[number % Ending.all.count].run(store)) }
    let left = try settle {
        try leftovers() ?? (descriptors() > before ? "\(descriptors()) descriptors, \(before) before" : nil)
    }
    say(left.map { "left after \(count): \($0)" } ?? "nothing left")
    let torn = try store.read { try Batches.value("batches", $0) }
    say("\(torn) batches of cancelled writes")
}
