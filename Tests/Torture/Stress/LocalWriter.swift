// A thread of this process that commits in bursts, each with its own pace.
import StillingWell
import StillingWellSeededRandom
import StillingWellSync

final class LocalWriter: Sendable {
    private let name: String
    private let load: Load
    private let commit: Commit
    private let sites: [Site]
    let heartbeat: Heartbeat

    init(_ number: Int, _ load: Load, _ sites: [Site]) {
        self.sites = sites
        name = "local writer \(number)"
        self.load = load
        commit = Commit(writer: load.plan.localWriter(number), plan: load.plan)
        heartbeat = Heartbeat(name)
    }

    func start() -> TracedThread { TracedThread(name) { [self] in run() } }

    private func run() {
        var random = load.plan.random(name)
        while !load.isStopping {
            let pauseUs = random.one(of: [0, 200, 1_000, 3_000, 10_000])
            for _ in 0..<random.from(1...60) where !load.isStopping {
                heartbeat.beat()
                one(&random)
                if pauseUs > 0 { sleep(us: random.below(pauseUs) + 1) }
            }
            sleep(us: random.below(6_000))
        }
        heartbeat.end()
    }

    private func one(_ random: inout SeededRandom) {
        load.gate.enter()
        defer { load.gate.leave() }
        let timeout = random.oneIn(16) ? Duration.milliseconds(1) : nil
        if random.oneIn(4) { return oneInSilence(timeout, &random) }
        if random.oneIn(8) { return oneAsynchronously(&random) }
        let nests = random.oneIn(64)
        let isDone = load.write(name, commit, &random) { body in
            try load.store.write(timeout: timeout) { connection in
                if nests { expectRefusal() }
                try body(connection)
            }
        }
        if isDone { load.tally.count(.localCommits) }
    }

    private func oneInSilence(_ timeout: Duration?, _ random: inout SeededRandom) {
        let views = (0..<random.from(1...4)).compactMap { _ in random.one(of: sites).someSkippableView(&random) }
        let isDone = load.writeSilently(name, commit, views.unique, &random) { tokens, body in
            try load.store.write(timeout: timeout, withoutNotifying: tokens, body)
        }
        if isDone { load.tally.count(.localCommits) }
    }

    /// Writes asynchronously and waits, so that the writer's random draws keep their order.
    private func oneAsynchronously(_ random: inout SeededRandom) {
        let isDone = load.write(name, commit, &random) { body in
            try withoutActuallyEscaping(body) { body in
                let lent = Lent(body)
                let outcome = Box<Result<Void, any Error>?>(nil)
                let done = Flag("asynchronous write")
                load.store.queueWrite({ try lent.body!($0) }) {
                    // The store releases the block only after this call.
                    lent.body = nil
                    outcome.set($0)
                    done.raise()
                }
                while !done.wait(seconds: Limits.stallS) {}
                try outcome.value?.get()
            }
        }
        if isDone { load.tally.count(.asyncCommits) }
    }

    /// Begins a write inside a write, which must be refused.
    private func expectRefusal() {
        do {
            try load.store.write { _ in }
            load.verdict.report(.noError, name, "a write inside a write was not refused")
        } catch StoreError.writeInsideWrite {
            load.tally.count(.refusedNesting)
        } catch {
            load.verdict.report(.noError, name, "a write inside a write threw \(error)")
        }
    }
}

/// A block that another thread runs while the one it belongs to waits.
private final class Lent: @unchecked Sendable {
    var body: ((Connection) throws -> Void)?

    init(_ body: @escaping (Connection) throws -> Void) { self.body = body }
}
