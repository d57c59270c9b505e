// A process beside the trial's own, seen from the trial that started it: told what to do, listened to, stopped and killed.
import Foundation
import Measure
import Scenario
import StoreDriver
import Trials

final class HelperProcess {
    private let process: Subprocess
    private var splitter = LineSplitter()
    private var lines: [String] = []

    /// Starts this very binary again.
    init(_ order: HelperOrder) throws {
        process = try Subprocess(
            "/proc/\(getpid())/exe", ["trial-helper"], input: JSONEncoder().encode(order) + Data("\n".utf8),
            keepsInputOpen: true, errors: .inherited)
    }

    /// The next line; nil when there is none until then, or none any more.
    func line(untilNs deadlineNs: Int64) -> String? {
        while lines.isEmpty, process.exit == nil, MonotonicClock.nowNs() < deadlineNs { advance(untilNs: deadlineNs) }
        return lines.isEmpty ? nil : lines.removeFirst()
    }

    private func advance(untilNs: Int64) {
        process.advance(untilNs: untilNs) { _, bytes in
            lines += splitter.add(bytes).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// - Throws: `TrialFault.harness` where it does not get ready.
    func awaitReady(_ timeoutNs: Int64) throws {
        guard line(untilNs: MonotonicClock.nowNs() + timeoutNs) == "ready" else {
            throw TrialFault.harness("a process beside the trial did not get ready; see its log")
        }
    }

    func tell(_ word: String) { process.write(Data("\(word)\n".utf8)) }

    func signal(_ number: Int32) { process.signal(number) }

    /// Kills it, if it has not ended, and waits.
    func end() { process.kill() }

    /// Ends within the time, by itself.
    func awaitEnd() { while process.exit == nil { advance(untilNs: .max) } }
}

/// What a helper is told: one line of JSON on its standard input. It answers by lines too: `ready` when it has the store open and
/// could begin, `done` with what it has to say when it is through.
struct HelperOrder: Codable, Sendable {
    enum Role: Codable, Sendable {
        /// Commits what writer `index` would, into a file of records, from the due time after so many.
        case writer(index: Int, dueTimesDone: Int, records: String)
        /// Observes the first query until it is killed.
        case observer
    }

    var spec: TrialSpec
    var role: Role
    var storeDirectory: String
}

extension StoreConfiguration {
    /// valgrind has no room for larger maps.
    private static let countedMapBytes = 4 << 30

    /// As a trial asks for it.
    init(_ spec: TrialSpec, directory: String) {
        self.init(
            directory: directory, durability: DurabilityLevel(rawValue: spec.durability)!,
            keys: KeyKind(rawValue: spec.dataset.keys.rawValue)!, links: spec.dataset.links,
            hasList: spec.observers.sort == .list, rows: RowShape(spec), operators: spec.observers.operators,
            readsFirst: spec.observers.subscribe == .readFirst,
            mapBytes: spec.count == nil ? nil : Self.countedMapBytes, isCounted: spec.count != nil)
        serverURL = spec.serverURL
    }
}
