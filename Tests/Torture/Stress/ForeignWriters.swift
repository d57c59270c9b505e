// The foreign writers. Once a second or so, one of them is killed and replaced. After a kill, upkeep (the thread of the
// store that keeps query results current) must reach the last commit by its poll, with slack for a busy machine (I9).
// During a strict kill all other writers are paused, so that none of them wakes upkeep.
//
// `lock` guards `living` and `dead`. All other state belongs to the thread that runs this type.
import StillingWell
import StillingWellSeededRandom
import StillingWellSync
import TidegaugeHangs

final class ForeignWriters: @unchecked Sendable {
    private let load: Load
    private var processes: [ForeignProcess] = []
    private var lives: [Int] = []
    private var random: SeededRandom
    private let lock = TracedMutex("foreign versions")
    /// Versions kept by running processes, by writer number.
    private var living: [Int: SharedVersion] = [:]
    /// Versions kept by killed processes, each with the version by which another process has released it.
    private var dead: [(version: Int, until: Int)] = []
    let heartbeat = Heartbeat("foreign writers")

    init(_ load: Load) {
        self.load = load
        random = load.plan.random("killer")
    }

    func start() -> TracedThread { TracedThread("killer") { [self] in run() } }

    private func run() {
        for number in 0..<load.plan.foreignWriters { spawn(number) }
        while !load.isStopping {
            let untilNs = monotonicNs() + Int64(random.from(900...1_100)) * 1_000_000
            while !load.isStopping, monotonicNs() < untilNs { sleep(us: 5_000) }
            heartbeat.beat()
            let isStrict = random.oneIn(2)
            let victim = random.below(max(1, processes.count))
            sleep(us: random.below(2_000))
            guard !processes.isEmpty, !load.isStopping else { continue }
            if isStrict { killInSilence(victim) } else { killInNoise(victim) }
            spawn(victim)
        }
        for (number, process) in processes.enumerated() { end(process, number) }
        processes = []
        heartbeat.end()
    }

    private func spawn(_ number: Int) {
        if number == lives.count { lives.append(0) }
        let plan = load.plan
        let started = load.expectNoError("foreign writer \(number)") {
            let arguments = [
                "foreign-writer", "--path", load.configuration.path, "--durability", plan.durability.rawValue,
                "--seed", "\(plan.seed)", "--writer", "\(number)", "--life", "\(lives[number])",
            ]
            // Registered before the process starts, because it can read at once.
            let standing = try SharedVersion(newest())
            lock.withLock { living[number] = standing }
            return try ForeignProcess(arguments, standing: standing)
        }
        lives[number] += 1
        guard let started else { return load.stop() }
        if number == processes.count { processes.append(started) } else { processes[number] = started }
    }

    private func killInNoise(_ victim: Int) {
        end(processes[victim], victim)
        expectRecovery("with others going on")
    }

    /// Closes the gate before it stops processes: a local writer that waits for a stopped process would never leave.
    private func killInSilence(_ victim: Int) {
        load.gate.close()
        defer { load.gate.open() }
        let others = processes.indices.filter { $0 != victim }.map { processes[$0] }
        for other in others { other.pause() }
        defer { for other in others { other.resume() } }
        end(processes[victim], victim)
        load.tally.count(.strictKills)
        expectRecovery("with all other writers silent")
    }

    private func end(_ process: ForeignProcess, _ number: Int) {
        if let other = process.killNow() {
            load.verdict.report(.noError, "foreign writer \(number)", "it did not live until it was killed: \(other)")
        }
        load.tally.count(.kills)
        let until = load.expectNoError("killer") { try newest() + Limits.deadReaderCommits }
        lock.withLock {
            guard let standing = living.removeValue(forKey: number) else { return }
            dead.append((standing.version, until ?? .max))
        }
    }

    private func newest() throws -> Int { try load.store.read { Int($0.version) } }

    /// Returns the oldest version that a running or killed process keeps. May be called on any thread.
    func oldestKept(_ newest: Int) -> Int {
        lock.withLock {
            dead.removeAll { $0.until < newest }
            return (living.values.map(\.version) + dead.map(\.version)).reduce(newest, min)
        }
    }

    private func expectRecovery(_ how: String) {
        let startNs = monotonicNs()
        guard let last = load.expectNoError("killer", newest) else { return }
        let (isReached, idleNs) = waitForUpkeep(last)
        load.tally.slowestRecoveryUs.raise(to: Int(monotonicNs() - startNs) / 1_000)
        load.verdict.expect(
            .i9, isReached, "pulse",
            "version \(last) was there after a kill \(how); \((monotonicNs() - startNs) / 1_000_000_000) s later upkeep "
                + "stands at \(load.pulse.version), after \(idleNs) ns of CPU time in the last "
                + "\(Limits.pollS + Limits.slackS) s")
    }

    /// Waits until upkeep has delivered `version`.
    ///
    /// Upkeep that was not woken uses hardly any CPU time. While it uses `Limits.busyNs` per period or more, the
    /// wait goes on, for about `Limits.stallS` at most.
    /// - Returns: whether upkeep reached the version, and if not, its CPU time in the last period.
    private func waitForUpkeep(_ version: Int) -> (isReached: Bool, cpuNs: Int64) {
        let periodS = Limits.pollS + Limits.slackS
        var waitedS = 0.0
        var cpuNs: Int64 = 0
        repeat {
            let before = Self.upkeepNs()
            if load.pulse.wait(for: version, seconds: periodS) { return (true, 0) }
            cpuNs = Self.upkeepNs() - before
            waitedS += periodS
        } while cpuNs >= Limits.busyNs && waitedS < Limits.stallS
        return (false, cpuNs)
    }

    /// CPU time of all upkeep threads of this process.
    private static func upkeepNs() -> Int64 {
        KernelView.threads().filter { $0.name.hasPrefix("well-upkeep") }.reduce(Int64(0)) { $0 + $1.cpuNs }
    }
}
