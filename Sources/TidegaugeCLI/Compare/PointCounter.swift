// Counts one point of a comparison: the head once, the base twice. If instructions regressed under callgrind, both
// sides are counted again with call paths. Counts of instructions are cached beside the build.
import Foundation
import StillingWellBasis
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeProfiles
import TidegaugeReport
import TidegaugeRun
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

/// Counts of one point.
struct CountedPoint: Sendable {
    var rows: [CountedRow] = []
    /// Texts of the files that the rows name.
    var files: [String: String] = [:]
    /// Reason why rows or causes are missing, or nil.
    var obstacle: String?
}

/// Counts points one after the other. Used by one thread.
final class PointCounter {
    /// Counts of one side at one point.
    fileprivate struct Count: Codable {
        var account: CountAccount
        /// Profiles by role, if it was counted with call paths.
        var profiles: [String: CallProfile]
    }

    /// Purpose of a count.
    private enum Purpose: String {
        case figure = "0"
        /// The second count of the base, which shows the noise.
        case again = "1"
        case profile
    }

    /// Compared instruction counts, and the role of each.
    private static let roles: [Metric: ThreadRole] = [
        .writerInstructions: .writer, .upkeepInstructions: .upkeep, .observerInstructions: .observer,
    ]
    private static let mostCauses = 8
    private static let mostPaths = 5

    private let counter: InstructionCounter
    private let folder: String
    private let base: Side
    private let head: Side

    private final class Side {
        let child: ChildProcess
        let binary: OtherBinary
        let shim: Shim?
        /// Fingerprint of the build, because another build may use the same path.
        private let fingerprint: String

        init(_ binary: OtherBinary, _ side: ComparedSide, folder: String, _ interruption: Interruption) {
            (self.binary, shim, fingerprint) = (binary, side.shim, side.fingerprint)
            child = ChildProcess(directory: folder, interruption: interruption, other: binary)
        }

        /// Folder of cached counts, beside the build.
        var kept: String { "\((binary.path as NSString).deletingLastPathComponent)/counts" }

        /// Returns the cache file of a count.
        func path(_ spec: TrialSpec, _ purpose: Purpose) throws -> String {
            let asked = [UInt8](try SpecDialect.json(spec, version: binary.talks.specVersion))
            let of = SHA256.hexadecimal(Array("\(InstructionCounter.method) \(fingerprint)".utf8) + asked)
            return "\(kept)/\(of)-\(purpose.rawValue).json"
        }
    }

    /// - Parameter folder: folder for trials of this counter only. Failed ones leave their log there.
    init(
        _ counter: InstructionCounter, _ plan: ComparisonPlan, _ binaries: (base: OtherBinary, head: OtherBinary),
        folder: String, _ interruption: Interruption
    ) {
        (self.counter, self.folder) = (counter, folder)
        base = Side(binaries.base, plan.base, folder: "\(folder)/base", interruption)
        head = Side(binaries.head, plan.head, folder: "\(folder)/head", interruption)
    }

    func count(_ point: TrialSpec, _ title: String) -> CountedPoint {
        if let obstacle = point.countObstacle { return CountedPoint(obstacle: obstacle) }
        do {
            if counter == .engine { return try engineCounts(point) }
            var counted = CountedPoint(rows: try rows(point))
            // The hardware counter has no profile.
            if counter == .callgrind, counted.rows.contains(where: { $0.verdict == .regressed }) {
                explain(&counted, point, title)
            }
            return counted
        } catch {
            return CountedPoint(obstacle: "\(error)")
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private func rows(_ point: TrialSpec) throws -> [CountedRow] {
        let before = try count(point, base, .figure)
        let again = try count(point, base, .again)
        let after = try count(point, head, .figure)
        return Self.roles.sorted(by: { $0.key.rawValue < $1.key.rawValue }).compactMap { metric, role in
            func figure(_ count: Count) -> Double? { count.account.perCommit([role]) { $0.instructions } }
            guard let first = figure(before), let second = figure(again), let last = figure(after) else { return nil }
            return CountedRow(
                scenario: point.scenario, driver: point.driver, variant: point.variant, metric: metric,
                counter: counter.rawValue, base: first, again: second, head: last)
        }
    }

    /// Counts an engine's own counters on both sides, and the base twice. It takes seconds, so nothing is cached.
    private func engineCounts(_ point: TrialSpec) throws -> CountedPoint {
        func counters(_ side: Side) throws -> [Metric: Double] {
            var spec = point.counted(by: counter.rawValue)
            spec.shim = side.shim
            return try run(spec, side).figures.reduce(into: [:]) { counters, figure in
                if figure.metric.isOfEngine { counters[figure.metric] = figure.value }
            }
        }
        let (before, again, after) = (try counters(base), try counters(base), try counters(head))
        var counted = CountedPoint()
        var oneSided: [String] = []
        for metric in Metric.ordered(Set(before.keys).union(after.keys)) {
            guard let first = before[metric], let second = again[metric], let last = after[metric] else {
                oneSided.append("only the \(after[metric] == nil ? "base" : "head") has '\(metric.rawValue)'")
                continue
            }
            counted.rows.append(
                CountedRow(
                    scenario: point.scenario, driver: point.driver, variant: point.variant, metric: metric,
                    counter: counter.rawValue, base: first, again: second, head: last))
        }
        if !oneSided.isEmpty { counted.obstacle = oneSided.joined(separator: ", ") }
        return counted
    }

    /// Adds the causes of each regression. Verdicts stay valid without them.
    private func explain(_ counted: inout CountedPoint, _ point: TrialSpec, _ title: String) {
        do {
            let before = try count(point, base, .profile)
            let after = try count(point, head, .profile)
            for index in counted.rows.indices where counted.rows[index].verdict == .regressed {
                guard let role = Self.roles[counted.rows[index].metric], let old = before.profile(role),
                    let new = after.profile(role)
                else { continue }
                explain(&counted.rows[index], ProfileDifference(base: old, head: new), title, &counted.files)
            }
        } catch {
            counted.obstacle = "instructions by function were not counted: \(error)"
        }
    }

    private func explain(
        _ row: inout CountedRow, _ difference: ProfileDifference, _ title: String, _ files: inout [String: String]
    ) {
        row.causes = difference.culprits.prefix(Self.mostCauses).map {
            .init(
                function: $0.name, base: $0.own.before, head: $0.own.after, baseInclusive: $0.inclusive.before,
                headInclusive: $0.inclusive.after)
        }
        row.paths = difference.paths(most: Self.mostPaths).map { path in
            "+\(Int(nearest: path.exclusive.growth)) " + path.names.joined(separator: " → ")
        }
        let place = "\(title) \(row.metric.rawValue)".map { $0.isLetter || $0.isNumber ? $0 : "-" }
        let file = "flame-\(String(place)).svg"
        files[file] = FlameGraph.svg(difference, title: "\(title): \(row.metric.rawValue)", operation: "commit")
        row.flameGraph = file
    }

    // MARK: Counting

    private func count(_ point: TrialSpec, _ side: Side, _ purpose: Purpose) throws -> Count {
        var spec = point.counted(by: counter.rawValue)
        spec.shim = side.shim
        let path = try side.path(spec, purpose)
        if let data = FileManager.default.contents(atPath: path),
            let known = try? JSONDecoder().decode(Count.self, from: data)
        {
            return known
        }
        side.child.profilesCallPaths = purpose == .profile
        let result = try run(spec, side)
        guard let account = result.count else { throw Failure(description: "no count") }
        let profiles = purpose == .profile ? side.child.profiles : [:]
        let count = Count(
            account: account, profiles: Dictionary(uniqueKeysWithValues: profiles.map { ($0.key.rawValue, $0.value) }))
        // If it cannot be cached, it is counted again the next time.
        try? FileManager.default.createDirectory(atPath: side.kept, withIntermediateDirectories: true)
        try? JSONEncoder().encode(count).write(to: URL(fileURLWithPath: path), options: .atomic)
        return count
    }

    private func run(_ spec: TrialSpec, _ side: Side) throws -> TrialResult {
        let result = side.child.run(spec) { _ in }
        if result.fate == .completed { return result }
        let words = [result.fate.flag?.text ?? "no count"] + result.notes.prefix(2)
        throw Failure(description: words.joined(separator: ": "))
    }
}

extension PointCounter.Count {
    fileprivate func profile(_ role: ThreadRole) -> CallProfile? {
        let counted = account.affectingCommits > 0 ? account.affectingCommits : account.commits
        return counted > 0 ? profiles[role.rawValue]?.perOperation(counted) : nil
    }
}
