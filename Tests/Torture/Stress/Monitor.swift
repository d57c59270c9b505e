// The thread that checks the file's size and signs of life, samples the heap, and prints progress. A stalled run
// cannot be ended normally, so the monitor prints the result and ends the process.
import Foundation
import StillingWell
import StillingWellSync
import Synchronization
import TidegaugeHangs

final class Monitor: Sendable {
    private static let periodUs = 50_000
    private static let progressS = 5.0

    private let load: Load
    private let sites: [Site]
    private let foreign: ForeignWriters
    private let forker: Forker
    private let heartbeats: [Heartbeat]
    private let isOver = Atomic<Bool>(false)
    private let onStall: @Sendable () -> Void

    init(
        _ load: Load, _ sites: [Site], _ foreign: ForeignWriters, _ forker: Forker, _ heartbeats: [Heartbeat],
        onStall: @escaping @Sendable () -> Void
    ) {
        self.load = load
        self.sites = sites
        (self.foreign, self.forker) = (foreign, forker)
        self.onStall = onStall
        // Delivery contexts have no heartbeat here: each proves that it runs by answering a block.
        self.heartbeats = heartbeats
    }

    func start() -> TracedThread { TracedThread("monitor") { [self] in run() } }
    func end() { isOver.store(true, ordering: .relaxed) }

    private func run() {
        let startNs = monotonicNs()
        let turns = sites.map { Heartbeat("the turns of connection \($0.number) at the \($0.place.name)") }
        let answers = sites.map { _ in Counter() }
        var heap = HeapLine()
        var oldestKept = Kept()
        var asked = 0
        var nextProgressS = Self.progressS
        while !isOver.load(ordering: .relaxed) {
            sleep(us: Self.periodUs)
            oldestKept = checkFile(oldestKept)
            if !load.isStopping { heap.add(commits: load.pulse.version) }
            if answers.allSatisfy({ $0.value == asked }) {
                asked += 1
                for (index, site) in sites.enumerated() {
                    let (turn, answer) = (turns[index], answers[index])
                    site.place.perform {
                        site.turn()
                        turn.beat()
                        answer.add()
                    }
                }
            }
            // A delivery context that has answered already waits for the others.
            for (turn, answer) in zip(turns, answers) where answer.value == asked { turn.beat() }
            let nowNs = monotonicNs()
            if let silent = (heartbeats + turns).first(where: { $0.silentS(nowNs) > Limits.stallS }) { stall(silent) }
            let elapsedS = Double(nowNs - startNs) / 1e9
            if elapsedS >= nextProgressS {
                nextProgressS += Self.progressS
                progress(elapsedS)
            }
        }
        guard let bytes = heap.bytesPerCommit else { return }
        load.tally.heapBytesPerCommit.raise(to: bytes)
        load.verdict.expect(
            .holdings, bytes <= Limits.heapBytesPerCommit, "the heap",
            "it grows by \(bytes) bytes with every commit, \(Limits.heapBytesPerCommit) are allowed")
    }

    /// Checks the file's size against the versions that are kept on purpose. Their keepers report them, not the
    /// store: a version that the store kept by mistake would excuse its own growth. A version kept since the last
    /// check was kept then already, or is newer. So `oldestKept`, the result of the last check, is a lower bound for
    /// all of them.
    private func checkFile(_ oldestKept: Kept) -> Kept {
        let bytes = load.store.fileBytes
        guard let newest = load.expectNoError("monitor", { try load.store.read { Int($0.version) } }) else {
            return oldestKept
        }
        // Upkeep holds the version of its observers, or a later one.
        let inFile = min(newest, load.pulse.version, foreign.oldestKept(newest), forker.oldestKept(newest))
        let oldest = (sites.map(\.oldestKept) + [load.frozen.oldestKept]).reduce(inFile, min)
        load.tally.heldCommits.raise(to: newest - oldestKept.byAnybody)
        load.tally.pinnedCommits.raise(to: newest - oldestKept.inFile)
        load.tally.fileBytes.raise(to: bytes)
        let (held, pinned) = (load.tally.heldCommits.value, load.tally.pinnedCommits.value)
        let limit = Limits.fileBytes(heldCommits: held, pinnedCommits: pinned)
        load.verdict.expect(
            .i8, bytes <= limit, "the file",
            "it takes \(bytes) bytes; with \(held) commits held and \(pinned) pinned at most \(limit) are allowed")
        return Kept(byAnybody: oldest, inFile: inFile)
    }

    /// The oldest versions that are kept on purpose, at the time of a check.
    private struct Kept {
        var byAnybody = 0
        /// The oldest of them that is kept in the file, and not in memory.
        var inFile = 0
    }

    private func stall(_ silent: Heartbeat) {
        load.verdict.report(
            .stall, silent.name, "no sign of life for \(Int(Limits.stallS)) s\n\(WaitSnapshot.recorded().report)")
        onStall()
    }

    private func progress(_ elapsedS: Double) {
        let tally = load.tally
        let line =
            "\(Int(elapsedS)) s: version \(load.pulse.version), \(tally.callbackCount) callbacks, \(tally.value(of: .kills)) kills, "
            + "\(tally.tokensMade.value) tokens, \(tally.fileBytes.value >> 20) MB, "
            + "\(load.verdict.violationCount) violations\n"
        FileHandle.standardError.write(Data(line.utf8))
    }
}
