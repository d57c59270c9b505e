// Runs other programs (git, the compiler) to their end or until an interruption.
import Foundation
import TidegaugeMeasure
import TidegaugeRun

/// Error of a program that failed, with the end of its output.
struct ShellFailure: Error, CustomStringConvertible {
    var description: String
}

enum Shell {
    private static let lookEveryNs: Int64 = 200_000_000

    /// Returns the output of `command` without its last line end.
    /// - Throws: `ShellFailure`.
    @discardableResult
    static func output(
        _ command: [String], in folder: String, environment: [String: String] = [:]
    ) throws -> String {
        let ran: CompletedProcess
        do {
            ran = try Subprocess.run("/usr/bin/env", command, in: folder, environment: environment)
        } catch {
            throw unstartable(command, error)
        }
        guard ran.isSuccess else {
            let reason = String(decoding: ran.errors, as: UTF8.self).split(separator: "\n").suffix(3)
            throw ShellFailure(description: "\(command.joined(separator: " ")): \(reason.joined(separator: " "))")
        }
        guard ran.droppedBytes == 0 else {
            throw ShellFailure(
                description: "\(command.joined(separator: " ")): it said \(ran.droppedBytes) bytes more than are read")
        }
        var text = String(decoding: ran.output, as: UTF8.self)
        if text.hasSuffix("\n") { text.removeLast() }
        return text
    }

    /// Runs `command` with all output in the file `log`.
    /// - Parameters:
    ///   - name: text that errors call it by; nil: its first words.
    ///   - count: number of last lines that errors show, after up to five earlier lines with `error:`.
    /// - Throws: `ShellFailure`, or the error of a log that cannot be written.
    static func run(
        _ command: [String], in folder: String, log: String, _ interruption: Interruption, named name: String? = nil,
        lastLines count: Int = 3
    ) throws {
        try Data().write(to: URL(fileURLWithPath: log))
        let process: Subprocess
        do {
            process = try Subprocess("/usr/bin/env", command, in: folder, output: .file(log), errors: .file(log))
        } catch {
            throw unstartable(command, error)
        }
        while process.advance(untilNs: MonotonicClock.nowNs() + lookEveryNs, { _, _ in }) == nil {
            if interruption.isRaised {
                process.signal(SIGTERM)
                while process.exit == nil { process.advance { _, _ in } }
                throw ShellFailure(description: "interrupted")
            }
        }
        guard process.exit!.isSuccess else {
            let lines = ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n")
            let told = lines.dropLast(count).filter { $0.contains("error:") }.prefix(5) + lines.suffix(count)
            let title = name ?? command.prefix(4).joined(separator: " ")
            throw ShellFailure(
                description: "\(title) failed (\(process.exit!)), see \(log):\n  " + told.joined(separator: "\n  "))
        }
    }

    private static func unstartable(_ command: [String], _ error: any Error) -> ShellFailure {
        ShellFailure(description: "\(command[0]) cannot be run: \(error)")
    }
}
