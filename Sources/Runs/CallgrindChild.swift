// A trial's process under callgrind: how it is started, and what it leaves. Of the program a copy without debug information
// runs, which valgrind cannot read in the form that Swift writes; the names of functions stay.
import Foundation
import Measure
import Profiles
import Trials

enum CallgrindChild {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let stripTimeoutNs: Int64 = 300_000_000_000

    /// A copy of a program that valgrind can run.
    static func strip(_ program: String, to copy: String) throws {
        guard let strip = Subprocess.find("strip") else { throw InstructionCounter.Missing() }
        let ran = try Subprocess.run(
            strip, ["--strip-debug", "-o", copy, program], timeoutNs: stripTimeoutNs)
        guard ran.isSuccess else {
            throw Failure(description: "strip \(program): \(String(decoding: ran.errors, as: UTF8.self))")
        }
    }

    /// - Parameter results: the folder for what callgrind writes.
    static func command(
        _ program: String, _ arguments: [String], results: String
    ) throws -> (path: String, arguments: [String]) {
        guard let valgrind = Subprocess.find(Callgrind.program) else { throw InstructionCounter.Missing() }
        let options = [
            "-q", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes", "--separate-callers=40",
            "--fair-sched=yes", "--collect-systime=yes", "--callgrind-out-file=\(results)/\(Callgrind.fileName)",
        ]
        return (valgrind, options + [program] + arguments)
    }

    /// What callgrind counted, and where, by role.
    struct Counts {
        var inCommits: [String: CountAccount.Amounts] = [:]
        var atRest: [String: CountAccount.Amounts] = [:]
        /// Of the counted commits.
        var profiles: [ThreadRole: CallProfile] = [:]
    }

    /// Reads what a child has left in `results`.
    static func counts(in results: String) throws -> Counts {
        let files = try FileManager.default.contentsOfDirectory(atPath: results)
            .filter { $0.hasPrefix(Callgrind.fileName + ".") }.sorted()
        let parts = try files.flatMap { try CallgrindFile.read("\(results)/\($0)") }
        var roles: [Int: ThreadRole] = [:]
        for part in parts {
            let role = ThreadRole.allCases.first { part.symbols.contains(Callgrind.function(of: $0)) }
            if let role, let thread = part.thread { roles[thread] = role }
        }
        var counts = Counts()
        for part in parts {
            // The first thread conducts the trial.
            guard let thread = part.thread, thread > 1, let number = part.number else { continue }
            let role = roles[thread] ?? .other
            switch Callgrind.Part(rawValue: number) {
            case .roles, nil: continue
            case .rest: counts.atRest[role.rawValue, default: .zero] += part.amounts
            case .commits:
                counts.inCommits[role.rawValue, default: .zero] += part.amounts
                counts.profiles[role, default: .empty] = counts.profiles[role, default: .empty] + CallProfile(part)
            }
        }
        guard !counts.inCommits.isEmpty else {
            throw Failure(description: "\(results): callgrind left no profile of the counted commits")
        }
        return counts
    }
}

extension CallgrindPart {
    /// What allocators are called by: each call counts once, whoever is behind it.
    private static let allocators: Set = [
        "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "je_malloc", "je_calloc",
    ]

    fileprivate var amounts: CountAccount.Amounts {
        .init(
            instructions: Int64(total), allocations: Int64(calls(to: Self.allocators)),
            systemCalls: systemCalls.map { Int64($0) })
    }
}

extension CountAccount.Amounts {
    fileprivate static let zero = Self(allocations: 0, systemCalls: 0)

    fileprivate static func += (sum: inout Self, part: Self) {
        sum.instructions += part.instructions
        sum.allocations = sum.allocations.flatMap { sum in part.allocations.map { sum + $0 } }
        sum.systemCalls = sum.systemCalls.flatMap { sum in part.systemCalls.map { sum + $0 } }
    }
}
