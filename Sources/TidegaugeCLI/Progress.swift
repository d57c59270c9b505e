// What a person sees on standard error while trials run: one live line on a terminal, a plain line every 10 s elsewhere.
// No colours, so NO_COLOR has nothing to switch off but the cursor movement, and does.
//
// Progress comes from Foundation's queues.
import Foundation
import StillingWellSync
import TidegaugeMeasure
import TidegaugeTrial

final class Progress: Sendable {
    private let isQuiet: Bool
    private let line = Guarded("progress", ProgressLine())

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    /// - Parameter leftSeconds: how long it takes to the end, if the caller knows.
    func began(_ title: String, index: Int, of total: Int, leftSeconds: Double? = nil) {
        line.withLock {
            $0.began(title, index: index, of: total)
            $0.leftSeconds = leftSeconds
            show("starting", &$0)
        }
    }

    /// Planned time of the trials to come. The time left follows from it and from how long past trials took beside their plan.
    func planned(leftNs: Int64) { line.withLock { $0.planned(leftNs: leftNs) } }

    func progressed(_ progress: TrialProgress) {
        var text = progress.phase.rawValue
        if progress.phase == .measuring, progress.fraction > 0 {
            text += " \(Int(min(progress.fraction, 1) * 100)) %, \(progress.commits) commits, "
            text += "\(progress.callbacks) callbacks"
        }
        line.withLock { show(text, &$0) }
    }

    /// Where there is no word from the trial itself.
    func show() { line.withLock { show("running", &$0) } }

    /// A line that stays.
    func note(_ text: String) { printError(text) }

    private func show(_ text: String, _ line: inout ProgressLine) { if !isQuiet { line.show(text) } }
}

/// What the line says.
private struct ProgressLine {
    private static let plainEveryNs: Int64 = 10_000_000_000

    /// When the first trial began: what was built before it says nothing about the rest. Anew for each of several
    /// comparisons.
    private var startNs = MonotonicClock.nowNs()
    private var printedNs = MonotonicClock.nowNs()
    private var title = ""
    /// Seconds left, from a caller that knows better than the trials so far.
    var leftSeconds: Double?
    private var index = 0
    /// The first trial that ran, behind those that a resumed run has kept.
    private var first: Int?
    private var total = 0
    /// Of the plan: what was left when the first trial began, and what is left now.
    private var firstLeftNs: Int64?
    private var leftNs: Int64?

    mutating func planned(leftNs: Int64) {
        if firstLeftNs == nil { firstLeftNs = leftNs }
        self.leftNs = leftNs
    }

    mutating func began(_ title: String, index: Int, of total: Int) {
        if first == nil || index < self.index {
            (first, startNs, firstLeftNs) = (index, MonotonicClock.nowNs(), leftNs)
        }
        (self.title, self.index, self.total) = (title, index, total)
    }

    mutating func show(_ text: String) {
        // Who glances at it wants to know how long, and a narrow terminal cuts off the end.
        let line = "\(timeLeft)[\(index)/\(total)] \(title): \(text)"
        if LiveLine.isPossible {
            LiveLine.show(line)
        } else if MonotonicClock.nowNs() - printedNs >= Self.plainEveryNs {
            printedNs = MonotonicClock.nowNs()
            printError(line)
        }
    }

    /// From what the trials so far took; nothing before there are any.
    private var timeLeft: String {
        guard let first, index > first else { return "" }
        let tookNs = Double(MonotonicClock.nowNs() - startNs)
        let perTrial = tookNs / 1e9 / Double(index - first)
        var left = perTrial * Double(total - index + 1)
        if let firstLeftNs, let leftNs {
            // A fifth of a second of plan at least, or one short trial would speak for all.
            left = Double(leftNs) / 1e9 * tookNs / Double(max(firstLeftNs - leftNs, 200_000_000))
        }
        if let leftSeconds { left = leftSeconds }
        let seconds = Int(left)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60) left "
    }
}
