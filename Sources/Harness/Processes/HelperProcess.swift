// A helper seen from the trial that started it: told what to do, listened to, stopped and killed.
//
// `lines` and `isClosed` are guarded by `lock`; a reading thread adds, the conducting thread takes.
import Foundation
import Measure
import TracedSync

/// Conducting thread.
final class HelperProcess: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let lock = TracedMutex("helper process")
    private let changed: TracedCondition
    private var lines: [String] = []
    private var isClosed = false
    private var reader: TracedThread?

    /// Starts this very binary again.
    init(_ order: HelperOrder) throws {
        changed = TracedCondition("helper process", lock)
        process.executableURL = URL(fileURLWithPath: "/proc/\(getpid())/exe")
        process.arguments = ["trial-helper"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(order) + Data("\n".utf8))
        reader = TracedThread("helper reader") { [weak self, handle = output.fileHandleForReading] in
            var pending = Data()
            while case let data = handle.availableData, !data.isEmpty {
                pending += data
                while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                    self?.heard(String(decoding: pending[..<end], as: UTF8.self))
                    pending = Data(pending[(end + 1)...])
                }
            }
            self?.heard(nil)
        }
    }

    private func heard(_ line: String?) {
        lock.withLock {
            if let line { lines.append(line) } else { isClosed = true }
            changed.broadcast()
        }
    }

    /// The next line; nil when there is none until then, or none any more.
    func line(untilNs deadlineNs: Int64) -> String? {
        lock.withLock {
            while lines.isEmpty, !isClosed, changed.wait(untilNs: deadlineNs) {}
            return lines.isEmpty ? nil : lines.removeFirst()
        }
    }

    /// - Throws: `TrialFault.harness` where it does not get ready.
    func awaitReady(_ timeoutNs: Int64) throws {
        guard line(untilNs: MonotonicClock.nowNs() + timeoutNs) == "ready" else {
            throw TrialFault.harness("a process beside the trial did not get ready; see its log")
        }
    }

    func tell(_ word: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(word)\n".utf8))
    }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Kills it, if it has not ended, and waits.
    func end() {
        if process.isRunning { signal(SIGKILL) }
        process.waitUntilExit()
        reader?.join()
        reader = nil
    }

    /// Ends within the time, by itself.
    func awaitEnd() {
        process.waitUntilExit()
        reader?.join()
        reader = nil
    }
}
