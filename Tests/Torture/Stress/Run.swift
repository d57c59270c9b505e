// One run: set-up, load, quiescence, end. A thread directs it, because the main thread runs the run loop of one of the
// connections.
import Foundation
import Logging
import StillingWell
import StillingWellSync
import StillingWellTortureSupport
import Synchronization
import TidegaugeHangs

struct Outcome: Sendable {
    let isClean: Bool
    let text: String
}

final class Run: @unchecked Sendable {
    private let plan: Plan
    /// Seconds that a run may take longer to reach the wanted number of callbacks.
    private static let extraS = 60.0

    private let seconds: Double
    private let wantedCallbacks: Int
    private let folder: String
    private let isFolderKept: Bool
    /// Folder for stores other than the one under load.
    private let neighboursFolder: String
    private let mainPlace = MainPlace()
    private let mainQueuePlace = MainQueuePlace()
    /// Written by the director before the main loop ends.
    private var outcome: Outcome?

    /// Must be called on the main thread.
    /// - Throws: if no folder can be made.
    init(_ plan: Plan, seconds: Double, callbacks: Int, folder: String?) throws {
        wantedCallbacks = callbacks
        self.plan = plan
        self.seconds = seconds
        isFolderKept = folder != nil
        self.folder = try folder ?? ScratchFolder.make(inMemory: plan.durability == .memory)
        neighboursFolder = try ScratchFolder.make()
    }

    func runOnMainThread() -> Outcome {
        // Each dropped token logs a warning, and this test drops tokens on purpose.
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .error
            return handler
        }
        Tracing.start()
        let director = TracedThread("director") { [self] in
            direct()
            mainPlace.stop()
        }
        mainPlace.run()
        director.join()
        return outcome!
    }

    private func direct() {
        defer { removeFolders() }
        do {
            let load = try Load(plan, path: folder)
            try load.fill()
            let files = Holdings.openFiles
            run(load)
            if load.verdict.isClean { checkFiles(load, atStart: files) }
            outcome = Outcome(isClean: load.verdict.isClean, text: Report(load, seconds: seconds).text)
        } catch {
            outcome = Outcome(isClean: false, text: "the run could not be set up in \(folder): \(error)")
        }
    }

    private func run(_ load: Load) {
        let places = makePlaces()
        let sites = plan.sites.enumerated().map { number, site in
            Site(number, site, places["\(site.place) \(site.placeNumber)"]!, load)
        }
        let writers = (0..<plan.localWriters).map { LocalWriter($0, load, sites) }
        let foreign = ForeignWriters(load)
        let churner = Churner(load, sites)
        let forker = Forker(load)
        let neighbours = Neighbours(load, in: neighboursFolder)
        let monitor = Monitor(
            load, sites, foreign, forker,
            writers.map(\.heartbeat) + [foreign.heartbeat, churner.heartbeat, forker.heartbeat, neighbours.heartbeat]
        ) { [self] in endAtOnce(load) }

        load.pulse.start(load)
        for site in sites { site.place.perform { site.open() } }
        let monitoring = monitor.start()
        let threads =
            writers.map { $0.start() } + [foreign.start(), churner.start(), forker.start(), neighbours.start()]
        let untilNs = monotonicNs() + Int64(seconds * 1e9)
        let latestNs = untilNs + Int64(Self.extraS * 1e9)
        while load.verdict.isClean {
            let nowNs = monotonicNs()
            let isEnough = load.tally.callbackCount >= wantedCallbacks
            if nowNs >= (isEnough ? untilNs : latestNs) { break }
            sleep(us: 10_000)
        }
        load.stop()
        for thread in threads { thread.join() }

        if load.verdict.isClean { Quiescence(load, sites).check() }
        if load.verdict.isClean { checkFile(load) }
        for site in sites {
            _ = site.place.performAndWait(seconds: Limits.stallS) { site.close() }
        }
        checkLoopsEnd(load)
        if load.verdict.isClean { checkCoverage(load) }
        load.pulse.stop()
        monitor.end()
        monitoring.join()
        for place in places.values where place !== mainPlace { place.stop() }
    }

    /// Checks that the file is undamaged at the end.
    private func checkFile(_ load: Load) {
        guard let report = load.expectNoError("verify", { try load.store.verify() }) else { return }
        load.verdict.expect(.noError, report.isWhole, "the file", "it is damaged: \(report.damage)")
    }

    /// Checks that all descriptors of the run are closed soon after its end.
    private func checkFiles(_ load: Load, atStart: [String: Int]) {
        // Descriptors with a path or a peer belong to the run. None of them may stay open.
        func isOver(_ left: [String: Int]) -> Bool {
            left.contains { !$0.key.hasPrefix("anon_inode:") } || left.values.reduce(0, +) > Limits.filesOfTheSystem
        }
        let deadlineNs = monotonicNs() + Int64(Limits.stallS * 1e9)
        var left = Holdings.filesSince(atStart)
        while isOver(left), monotonicNs() < deadlineNs {
            sleep(us: 2_000)
            left = Holdings.filesSince(atStart)
        }
        load.tally.filesLeft.raise(to: left.values.reduce(0, +))
        load.verdict.expect(
            .holdings, !isOver(left), "the descriptors",
            "there are more open when all have gone than before they came: \(left)")
    }

    /// Checks that each loop ends when its task is cancelled.
    private func checkLoopsEnd(_ load: Load) {
        let deadlineNs = monotonicNs() + Int64(Limits.stallS * 1e9)
        while load.loops.value > 0, monotonicNs() < deadlineNs { sleep(us: 2_000) }
        load.verdict.expect(
            .i4, load.loops.value == 0, "the loops",
            "\(load.loops.value) loops over changes go on \(Int(Limits.stallS)) s after they were cancelled")
    }

    private func checkCoverage(_ load: Load) {
        for feature in Feature.allCases where load.hasDone(feature.expectedFrom) {
            load.verdict.expect(
                .coverage, load.count(of: feature) > 0, "the run", "\(feature.text): not once in \(load.workText)")
        }
    }

    private func makePlaces() -> [String: any Place] {
        var places: [String: any Place] = [:]
        for site in plan.sites {
            let number = site.placeNumber
            places["\(site.place) \(number)"] =
                switch site.place {
                case .main: mainPlace
                case .mainQueue: mainQueuePlace
                case .thread: places["\(site.place) \(number)"] ?? ThreadPlace("run-loop thread \(number)")
                case .queue: places["\(site.place) \(number)"] ?? QueuePlace("serial queue \(number)")
                case .hopping: places["\(site.place) \(number)"] ?? HoppingPlace("custom scheduler \(number)")
                case .actor: places["\(site.place) \(number)"] ?? ActorPlace("actor \(number)")
                case .executor: places["\(site.place) \(number)"] ?? ExecutorPlace("executor \(number)")
                }
        }
        return places
    }

    /// Ends the process, because stalled threads cannot be joined.
    private func endAtOnce(_ load: Load) {
        print(Report(load, seconds: seconds).text)
        fflush(nil)
        removeFolders()
        _exit(1)
    }

    private func removeFolders() {
        for path in isFolderKept ? [neighboursFolder] : [folder, neighboursFolder] {
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}
