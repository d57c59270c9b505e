// Progress on standard error while trials run: one live line on a terminal, else a plain line every 10 s. NO_COLOR
// turns off the cursor movement. Any thread.
import Foundation
import StillingWellSync
import TidegaugeMeasure
import TidegaugeTrial

final class Progress: Sendable {
    private let isQuiet: Bool
    private let line = Guarded("progress", ProgressLine())

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    /// - Parameter leftSeconds: time to the end, if known.
    func began(_ title: String, index: Int, of total: Int, leftSeconds: Double? = nil) {
        line.withLock {
            $0.began(title, index: index, of: total)
            $0.leftSeconds = leftSeconds
            show("starting", &$0)
        }
    }

    /// Sets the planned time of the remaining trials. The time left follows from it and the real time of past trials.
    func planned(leftNs: Int64) { line.withLock { $0.planned(leftNs: leftNs) } }

    func progressed(_ progress: TrialProgress) {
        var text = progress.phase.rawValue
        if progress.phase == .measuring, progress.fraction > 0 {
            text += " \(Int(min(progress.fraction, 1) * 100)) %, \(progress.commits) commits, "
            text += "\(progress.callbacks) callbacks"
        }
        line.withLock { show(text, &$0) }
    }

    /// Shows progress without a message from the trial.
    func show() { line.withLock { show("running", &$0) } }

    /// Prints a permanent line.
    func note(_ text: String) { printError(text) }

    private func show(_ text: String, _ line: inout ProgressLine) { if !isQuiet { line.show(text) } }
}

/// State of the progress line.
private struct ProgressLine {
    private static let plainEveryNs: Int64 = 10_000_000_000

    /// Start of the first trial, without earlier builds. Reset for each of several comparisons.
    private var startNs = MonotonicClock.nowNs()
    private var printedNs = MonotonicClock.nowNs()
    private var title = ""
    /// Seconds left, if the caller has a better estimate.
    var leftSeconds: Double?
    private var index = 0
    /// Index of the first trial that ran, after those kept by a resumed run.
    private var first: Int?
    private var total = 0
    /// Planned time left at the first trial, and now.
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
        // The time left comes first, because a narrow terminal cuts off the end.
        let line = "\(timeLeft)[\(index)/\(total)] \(title): \(text)"
        if LiveLine.isPossible {
            LiveLine.show(line)
        } else if MonotonicClock.nowNs() - printedNs >= Self.plainEveryNs {
            printedNs = MonotonicClock.nowNs()
            printError(line)
        }
    }

    /// Estimated from past trials; empty before the first one has ended.
    private var timeLeft: String {
        guard let first, index > first else { return "" }
        let tookNs = Double(MonotonicClock.nowNs() - startNs)
        let perTrial = tookNs / 1e9 / Double(index - first)
        var left = perTrial * Double(total - index + 1)
        if let firstLeftNs, let leftNs {
            // At least 0.2 s of planned time, so that one short trial does not dominate.
            left = Double(leftNs) / 1e9 * tookNs / Double(max(firstLeftNs - leftNs, 200_000_000))
        }
        if let leftSeconds { left = leftSeconds }
        let seconds = Int(left)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60) left "
    }
}
