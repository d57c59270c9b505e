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

    func began(_ title: String, index: Int, of total: Int) {
        line.withLock {
            $0.began(title, index: index, of: total)
            show("starting", &$0)
        }
    }

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
    private var index = 0
    /// The first trial that ran, behind those that a resumed run has kept.
    private var first: Int?
    private var total = 0

    mutating func began(_ title: String, index: Int, of total: Int) {
        if first == nil || index < self.index { (first, startNs) = (index, MonotonicClock.nowNs()) }
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
        let perTrial = Double(MonotonicClock.nowNs() - startNs) / 1e9 / Double(index - first)
        let seconds = Int(perTrial * Double(total - index + 1))
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60) left "
    }
}
