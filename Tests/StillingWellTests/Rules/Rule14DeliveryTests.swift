// Rule 14. Delivery contexts, and errors where nothing could be delivered.
import Foundation
import StillingWell
import Testing

/// Callbacks of the observers in one delivery context.
private struct Log: Sendable {
    var keys: [[Int]] = []
    var versions: [UInt64] = []
    /// Calls that came in another context, or during another call.
    var violations: [String] = []
}

/// Observes all notes in any delivery context.
private final class Watcher {
    let connection: Connection
    private let token: NotificationToken
    private var isRunning = false

    init(_ store: Store, on site: Store.Site, _ log: Watched<Log>, isHere: @escaping () -> Bool) throws {
        connection = try store.connect(on: site)
        var enter: () -> Bool = { false }
        var leave: () -> Void = {}
        token = try connection.objects(Note.self).observe { [unowned connection] change in
            let isAlone = enter()
            if case .initial(let notes) = change { log.update { $0.keys.append(notes.map(\.id)) } }
            if case .update(let notes, _) = change { log.update { $0.keys.append(notes.map(\.id)) } }
            log.update {
                $0.versions.append(connection.version)
                if !isAlone { $0.violations.append("two at once") }
                if !isHere() { $0.violations.append("not here, but on \(Thread.current)") }
            }
            leave()
        }
        enter = { [unowned self] in
            defer { isRunning = true }
            return !isRunning
        }
        leave = { [unowned self] in isRunning = false }
    }

    func stop() { token.invalidate() }
}

private actor Home {
    private var watcher: Watcher?
    fileprivate var kept: Connection?

    func start(_ store: Store, _ log: Watched<Log>) throws {
        watcher = try Watcher(store, on: .actor(self), log) {
            // Ends the process if the callback runs elsewhere.
            self.preconditionIsolated()
            return true
        }
    }

    func stop() {
        watcher?.stop()
        watcher = nil
    }
}

/// An actor that runs on a run-loop thread.
private actor Lodger {
    private nonisolated let thread: RunLoopThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    private var watchers: [Watcher] = []

    init(_ thread: RunLoopThread) { self.thread = thread }

    /// Observes in the actor's three delivery contexts.
    func start(_ store: Store, _ logs: [Watched<Log>]) throws {
        for (site, log) in zip([Store.Site.actor(self), .executor(thread), .runLoop], logs) {
            watchers.append(try Watcher(store, on: site, log) { [thread] in thread.isCurrent })
        }
    }

    func stop() {
        for watcher in watchers { watcher.stop() }
        watchers = []
    }
}

/// An actor whose callbacks use its state.
private actor Counter {
    private var tokens: [NotificationToken] = []
    private(set) var counts: [Int] = []
    private let told: Watched<[Int]>

    init(_ told: Watched<[Int]>) { self.told = told }

    private func note(_ count: Int) {
        counts.append(count)
        let counts = counts
        told.update { $0 = counts }
    }

    /// Observes the notes, their sections, and the first one.
    func start(_ store: Store) throws {
        let notes = try store.connect(on: .actor(self)).objects(Note.self)
        tokens = [
            try notes.observe(on: self, keyPaths: []) { me, change in
                if case .initial(let notes) = change { me.note(notes.count) }
                if case .update(let notes, _) = change { me.note(notes.count) }
            },
            try notes.sectioned(by: \.group).observe(on: self) { me, change in
                if case .update(let sections, _) = change { me.note(sections.objectCount * 10) }
            },
            try notes[0].observe(on: self) { me, change in
                if case .change(let note, _) = change { me.note(note.score) }
            },
        ]
    }
}

@Suite("Rule 14: delivery where it was registered, and an error where it cannot be", .timeLimit(.minutes(15)))
struct Rule14DeliveryTests {
    private let test: TestStore
    private let log = Watched(Log())

    init() throws { test = try TestStore() }

    /// Commits twenty notes and waits for the last.
    private func commitAndWait(_ log: Watched<Log>) async throws {
        try await log.reached("initial") { !$0.keys.isEmpty }
        for id in 0..<20 { try test.write { try $0.add(Note(id: id)) } }
        let told = try await log.reached("the last note") { $0.keys.last?.count == 20 }
        #expect(told.violations.isEmpty)
        #expect(zip(told.versions, told.versions.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("on a serial queue")
    func queue() async throws {
        let queue = DispatchQueue(label: "feed")
        nonisolated(unsafe) var watcher: Watcher?
        let mark = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: mark, value: true)
        try queue.sync {
            watcher = try Watcher(test.store, on: .queue(queue), log) { DispatchQueue.getSpecific(key: mark) == true }
        }
        try await commitAndWait(log)
        queue.sync {
            watcher?.stop()
            watcher = nil
        }
    }

    @Test("isolated to the actor that observes, which no observer retains")
    func isolated() async throws {
        let told = Watched<[Int]>([])
        weak var gone: Counter?
        try test.write { try $0.add(Note(id: 0)) }
        do {
            let counter = Counter(told)
            gone = counter
            try await counter.start(test.store)
            try await told.reached("initial") { $0 == [1] }
            try test.write { try $0.object(Note.self, forPrimaryKey: 0)?.score = 500 }
            try test.write { try $0.add(Note(id: 1)) }
            try await told.reached("the changes") { Set($0).isSuperset(of: [1, 2, 20, 500]) }
            #expect(await counter.counts == told.value)
        }
        while gone != nil { await Task.yield() }
    }

    @Test("on an actor, isolated to it")
    func actor() async throws {
        let home = Home()
        try await home.start(test.store, log)
        try await commitAndWait(log)
        await home.stop()
    }

    @Test("on an actor with an executor of its own, on that executor, and on the run loop below it")
    func executor() async throws {
        let thread = RunLoopThread("lodgings")
        let lodger = Lodger(thread)
        let logs = [log, Watched(Log()), Watched(Log())]
        try await lodger.start(test.store, logs)
        try await commitAndWait(logs[0])
        for log in logs {
            let told = try await log.reached("the last note") { $0.keys.last?.count == 20 }
            #expect(told.violations.isEmpty)
        }
        await lodger.stop()
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                thread.stop()
                done.resume()
            }
        }
    }

    @Test("on the main actor, as an actor and as the main queue", arguments: [true, false])
    @MainActor
    func mainActor(_ asActor: Bool) async throws {
        let site: Store.Site = asActor ? .actor(MainActor.shared) : .main
        let watcher = try Watcher(test.store, on: site, log) {
            MainActor.preconditionIsolated()
            return true
        }
        try await commitAndWait(log)
        watcher.stop()
    }

    @Test("an actor's connection does not keep the actor")
    func actorGoes() async throws {
        weak var gone: Home?
        do {
            let home = Home()
            gone = home
            _ = try await home.connect(test.store)
        }
        #expect(gone == nil)
    }

    @Test(
        "a run loop is refused on workers of queues and of the concurrency pool, and the error says where and what to do"
    )
    func noRunLoop() async throws {
        func refusal() -> StoreError? {
            do {
                _ = try test.store.connect(on: .runLoop)
                return nil
            } catch { return error as? StoreError }
        }
        #expect(refusal() == .noRunLoop(place: "a task of the concurrency pool"))
        let queue = DispatchQueue(label: "feed")
        #expect(queue.sync { refusal() } == .noRunLoop(place: "queue 'feed'"))
        nonisolated(unsafe) let ask = refusal
        let onGlobal = await withCheckedContinuation { done in
            DispatchQueue.global().async { done.resume(returning: ask()) }
        }
        #expect(onGlobal == .noRunLoop(place: "the global dispatch queue"))
        let text = "\(try #require(onGlobal))"
        for remedy in [".queue(queue)", ".actor(self)", ".main", "RunLoopThread"] { #expect(text.contains(remedy)) }
        // A plain thread may run its loop later.
        let thread = await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: ask()) }
        }
        #expect(thread == nil)
    }

    @Test("a connection is opened where it lives; the error names both places")
    func elsewhere() throws {
        let queue = DispatchQueue(label: "feed")
        let other = DispatchQueue(label: "other")
        #expect(throws: StoreError.connectedElsewhere(site: "queue 'feed'", caller: "queue 'other'")) {
            try other.sync { _ = try test.store.connect(on: .queue(queue)) }
        }
        #expect(throws: StoreError.connectedElsewhere(site: "the main queue", caller: "queue 'other'")) {
            try other.sync { _ = try test.store.connect(on: .main) }
        }
    }

    @Test("a concurrent queue is refused, a serial one that targets it is not")
    func concurrent() throws {
        let crowd = DispatchQueue(label: "crowd", attributes: .concurrent)
        for queue in [crowd, .global()] {
            #expect(throws: StoreError.concurrentQueue(label: queue.label)) {
                try queue.sync(flags: .barrier) { _ = try test.store.connect(on: .queue(queue)) }
            }
        }
        let line = DispatchQueue(label: "line", target: crowd)
        try line.sync { _ = try test.store.connect(on: .queue(line)) }
    }

    @Test("observing in a block's connection says how to have one that stays")
    func block() throws {
        let error = #expect(throws: StoreError.noScheduler) {
            try test.store.read { _ = try $0.objects(Note.self).observe { _ in } }
        }
        for remedy in [".runLoop", ".queue(queue)", ".actor(self)", "RunLoopThread"] {
            #expect(error.map { "\($0)" }?.contains(remedy) == true)
        }
    }

    @Test(
        "misuse stops the program, naming both places; of an actor the runtime names the one that was meant",
        arguments: [
            ("otherThread", ["run loop of home", "thread 'abroad'"]),
            ("otherQueue", ["queue 'home'", "queue 'abroad'"]),
            ("otherActor", ["Home"]), ("outsideActor", ["Home"]), ("connectOutsideActor", ["Home"]),
        ])
    func misuse(_ kind: String, _ words: [String]) async throws {
        let process = try FixtureProcess(path: test.path + "-misuse", .relaxed, ["misuse", kind])
        let output = try await process.output.reached("its end") { $0.isOver }
        let said = output.lines.joined(separator: "\n")
        #expect(!said.contains("nothing stopped it"))
        for word in words { #expect(said.contains(word), "\(said)") }
        try? FileManager.default.removeItem(atPath: test.path + "-misuse")
    }
}

extension Home {
    /// Keeps a connection until the actor ends.
    fileprivate func connect(_ store: Store) throws -> UInt64 {
        kept = try store.connect(on: .actor(self))
        return kept?.version ?? 0
    }
}
