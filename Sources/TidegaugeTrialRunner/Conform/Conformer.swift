// Tests a driver by small histories, and shortens a history that shows a broken promise.
import Foundation
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeTrial

/// The verdict about one promise.
package enum ConformVerdict: Sendable {
    case kept
    case broken(ConformHistory, String)
    /// With the reason as a sentence.
    case notApplicable(String)
}

package struct Conformer {
    /// Most runs that shorten one history.
    package static let mostShorteningRuns = 100
    /// Most runs of a shorter history whose threads race, until one shows the breach.
    private static let repetitions = 3
    /// Divisor of the time limit after a first time-out, and while a history with a time-out is shortened. A breach by
    /// a time-out that is found so is checked with the whole limit.
    private static let haste: Int64 = 10
    /// Number of histories whose commits are made by killed processes.
    private static let killedHistories = 2
    /// Time limit of a step, in limits of a delivery.
    private static let stepLimits: Int64 = 3

    private let driver: any StoreDriver
    private let limitNs: Int64
    private let mostRuns: Int
    private let capabilities: Capabilities
    private let killing: Killing?

    /// Runs `KilledCommits.makeAndDie` in another process, and returns once that has been killed.
    package typealias Killing = (_ seed: UInt64, _ commits: Int, _ folder: String) throws -> Void

    /// - Parameters:
    ///   - limitNs: time limit of a delivery and of a reply.
    ///   - mostRuns: most runs that shorten one history.
    ///   - killing: nil: durability is not tested.
    package init(
        _ driver: any StoreDriver, limitNs: Int64, mostRuns: Int = Conformer.mostShorteningRuns, killing: Killing? = nil
    ) {
        (self.driver, self.limitNs, self.mostRuns, self.killing) = (driver, limitNs, mostRuns, killing)
        capabilities = driver.capabilities
    }

    /// Runs the histories of some seeds, and returns the verdicts in the order of the promises.
    /// - Parameter isEnough: ends the test early if it returns true for the promises broken so far.
    /// - Throws: `DriverUnavailable`, or the error of a temporary folder.
    package func verdicts(
        seeds: [UInt64], until isEnough: (Set<ConformPromise>) -> Bool = { _ in false }
    ) throws -> [(promise: ConformPromise, verdict: ConformVerdict)] {
        var broken: [ConformPromise: (ConformHistory, ConformBreach)] = [:]
        var tested: Set<ConformPromise> = []
        var isSelfTimed = false
        for seed in seeds where !isEnough(Set(broken.keys)) {
            let history = HistoryGenerator.history(seed: seed, capabilities)
            // A delivery that is known to come late is not waited for again.
            let hurries = broken.values.contains { $0.1.isTimeout }
            let outcome = try run(history, limitNs: hurries ? limitNs / Self.haste : limitNs)
            isSelfTimed = isSelfTimed || outcome.isSelfTimed
            tested.formUnion(history.promises)
            for (promise, breach) in outcome.breaches.found where broken[promise] == nil {
                var breach = breach
                if hurries, breach.isTimeout {
                    guard let confirmed = try run(history, limitNs: limitNs).breaches.found[promise] else { continue }
                    breach = confirmed
                }
                broken[promise] = outcome.isHung ? (history, breach) : try shortened(history, promise, breach)
            }
            if outcome.isHung { break }
        }
        if durabilityObstacle == nil, let killing, !isEnough(Set(broken.keys)) {
            broken[.durable] = try lostCommits(seeds.prefix(Self.killedHistories), killing)
        }
        return ConformPromise.allCases.map { promise in
            if let (history, breach) = broken[promise] { return (promise, .broken(history, breach.sentence)) }
            if let reason = obstacle(promise, isSelfTimed: isSelfTimed) { return (promise, .notApplicable(reason)) }
            if promise.isTestedBySome, !tested.contains(promise) {
                return (promise, .notApplicable("none of these histories tests it: raise --histories"))
            }
            return (promise, .kept)
        }
    }

    // MARK: Shortening

    /// Shortens the history while it still breaks the promise.
    private func shortened(
        _ history: ConformHistory, _ promise: ConformPromise, _ breach: ConformBreach
    ) throws -> (ConformHistory, ConformBreach) {
        var best = (history, breach)
        let limitNs = breach.isTimeout ? limitNs / Self.haste : limitNs
        var runs = 0
        var place = 0
        var hasImproved = false
        var candidates = history.shorter
        while runs < mostRuns {
            if place >= candidates.count {
                if !hasImproved { break }
                (place, hasImproved) = (0, false)
                continue
            }
            var found: ConformBreach?
            for _ in 0..<(candidates[place].isConcurrent ? Self.repetitions : 1) where found == nil && runs < mostRuns {
                runs += 1
                let outcome = try run(candidates[place], limitNs: limitNs)
                if outcome.isHung { return best }
                found = outcome.breaches.found[promise]
            }
            if let found {
                best = (candidates[place], found)
                candidates = best.0.shorter
                hasImproved = true
            } else {
                place += 1
            }
        }
        guard best.1.isTimeout, best.0 != history else { return best }
        let confirmed = try run(best.0, limitNs: self.limitNs).breaches.found[promise]
        return confirmed.map { (best.0, $0) } ?? (history, breach)
    }

    // MARK: One history

    /// State of a running history.
    private struct Running {
        var outcome: ConformOutcome?
        var step = ""
        var number = 0
    }

    /// Runs a history on a thread of its own, because a call may never return.
    /// - Throws: `DriverUnavailable`.
    private func run(_ history: ConformHistory, limitNs: Int64) throws -> ConformOutcome {
        let running = Guarded("conform history", Running())
        let changed = TracedCondition("conform history", running)
        let thread = TracedThread("conform") { [driver] in
            let outcome = HistoryRun.outcome(of: history, on: driver, limitNs: limitNs) { step in
                running.withLock {
                    ($0.step, $0.number) = (step, $0.number + 1)
                    changed.broadcast()
                }
            }
            running.withLock {
                $0.outcome = outcome
                changed.broadcast()
            }
        }
        var seen = 0
        var deadline = HangDeadline(timeoutNs: Self.stepLimits * limitNs)
        while true {
            let (outcome, step, number) = running.withLock(
                after: changed, untilNs: deadline.endNs, once: { [seen] in $0.outcome != nil || $0.number != seen }
            ) { ($0.outcome, $0.step, $0.number) }
            if let outcome {
                thread.join()
                if let unavailable = outcome.unavailable { throw unavailable }
                return outcome
            }
            if number != seen {
                seen = number
                deadline.restart()
            } else if deadline.hasPassed() {
                thread.detach()
                var outcome = ConformOutcome(isHung: true)
                let seconds = Double(Self.stepLimits * limitNs) / 1e9
                outcome.breaches.add(
                    step == "close" ? .close : .requests, "\(step) has not ended within \(seconds) s", isTimeout: true)
                return outcome
            }
        }
    }

    // MARK: What is tested

    /// Returns why a promise is not tested, or nil.
    private func obstacle(_ promise: ConformPromise, isSelfTimed: Bool) -> String? {
        switch promise {
        case .changeSets where !capabilities.hasChangeSets: "its deliveries have no change sets"
        case .twice where capabilities.repeatsRows: "its facts say that it may deliver rows again"
        case .changeSets, .twice, .failing, .contents:
            capabilities.hasContents ? nil : "it keeps no rows"
        case .serial, .cancelledUnderLoad:
            capabilities.hasVersions ? nil : "it has no versions, so the order of concurrent commits is unknown"
        case .times: isSelfTimed ? nil : "it runs in this process, where the harness takes the times"
        case .messages: isSelfTimed ? nil : "it runs in this process, and exchanges no messages"
        case .durable: durabilityObstacle
        case .initial, .firstIsInitial, .covered, .lastState, .versions, .cancelled, .context, .facts, .requests,
            .close:
            nil
        }
    }

    private var durabilityObstacle: String? {
        if !capabilities.hasContents { return "it keeps no rows" }
        if !capabilities.persists { return "it keeps nothing on a disk" }
        // A server has files of its own, and an engine in another process opens empty folders only.
        if capabilities.can(.served) { return "its rows are in another process, whose store cannot be opened again" }
        return killing == nil ? "there is no other process to be killed" : nil
    }

    /// Finds the first history of which a killed process loses a commit or fails, with the least number of its commits.
    private func lostCommits(
        _ seeds: some Collection<UInt64>, _ killing: Killing
    ) throws -> (ConformHistory, ConformBreach)? {
        for seed in seeds {
            for count in 1...KilledCommits(seed: seed, on: driver).count {
                let folder = try PrivateFolder()
                defer { folder.remove() }
                let commits = KilledCommits(seed: seed, on: driver, count: count)
                do {
                    let path = try folder.makeStoreFolder()
                    try killing(seed, count, path)
                    guard let loss = try commits.loss(in: path) else { continue }
                    return (commits.shown, ConformBreach(sentence: "after the process was killed: \(loss)"))
                } catch {
                    return (commits.shown, ConformBreach(sentence: "\(error)"))
                }
            }
        }
        return nil
    }
}

extension ConformPromise {
    /// Whether only histories with certain steps test it.
    fileprivate var isTestedBySome: Bool {
        [.cancelled, .cancelledUnderLoad, .serial, .failing].contains(self)
    }
}

extension ConformHistory {
    /// Promises that need certain steps and are tested by this history.
    fileprivate var promises: Set<ConformPromise> {
        var found: Set<ConformPromise> = failingCommits > 0 ? [.failing] : []
        for step in steps {
            switch step {
            case .cancel: found.insert(.cancelled)
            case .together(let writers, let cancelling):
                if writers.count > 1 { found.insert(.serial) }
                if !cancelling.isEmpty { found.insert(.cancelledUnderLoad) }
            case .subscribe, .commit, .settle, .kill: break
            }
        }
        return found
    }
}
