// A trial's process under callgrind: how it is started, and what it leaves. Of the program a copy without debug information
// runs, which valgrind cannot read in the form that Swift writes; the names of functions stay.
import Foundation
import TidegaugeMeasure
import TidegaugeProfiles
import TidegaugeTrial

enum CallgrindChild {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// How many callers of a function are told apart, where it is asked who called it.
    private static let deepestCallers = 40
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

    /// - Parameters:
    ///   - results: the folder for what callgrind writes.
    ///   - callPaths: whether the profile says who called a function, which takes a third more time and changes no count.
    static func command(
        _ program: String, _ arguments: [String], results: String, callPaths: Bool
    ) throws -> (path: String, arguments: [String]) {
        guard let valgrind = Subprocess.find(Callgrind.program) else { throw InstructionCounter.Missing() }
        let options = [
            "-q", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes", "--fair-sched=yes",
            "--separate-callers=\(callPaths ? deepestCallers : 0)", "--collect-systime=yes",
            "--callgrind-out-file=\(results)/\(Callgrind.fileName)",
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
        let parts = try files.flatMap { try CallgrindFile.read("\(results)/\($0)") }.map { $0.withoutChance }
        var roles: [Int: ThreadRole] = [:]
        for part in parts {
            let role = ThreadRole.allCases.first { part.symbols.contains(Callgrind.function(of: $0)) }
            if let role, let thread = part.thread { roles[thread] = role }
        }
        var counts = Counts()
        for part in parts {
            guard let thread = part.thread else { continue }
            let role = roles[thread] ?? .other
            switch part.label {
            case .roles, nil: continue
            case .rest: counts.atRest[role.rawValue, default: .init()] += part.amounts
            case .commits:
                counts.inCommits[role.rawValue, default: .init()] += part.amounts
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
    /// What the trial calls it; nil of what callgrind writes when the process ends.
    fileprivate var label: Callgrind.Part? {
        trigger.flatMap { $0.split(separator: " ").last }.flatMap { Callgrind.Part(rawValue: String($0)) }
    }

    /// Without what goes by where things happen to lie in memory: how far the Swift runtime looks in its hash tables of types,
    /// which is the same for all commits of a process and another in the next, by one or two per cent of what a role executes.
    fileprivate var withoutChance: CallgrindPart {
        let isChance = symbols.map {
            $0.contains("swift::ConcurrentReadableHashMap<") || $0.hasPrefix("swift::MetadataCacheKey::operator==")
        }
        var part = self
        for (place, context) in contexts.enumerated() where isChance[context[0]] {
            part.total -= part.exclusive[place]
            part.exclusive[place] = 0
        }
        return part
    }

    /// What allocators are called by: each call counts once, whoever is behind it.
    private static let allocators: Set = [
        "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "je_malloc", "je_calloc",
    ]
    /// What storage engines are asked for rows and entries by.
    private static let reads: Set = ["mdb_get", "mdb_cursor_get", "sqlite3_step"]

    fileprivate var amounts: CountAccount.Amounts {
        .init(
            instructions: Int64(total), allocations: Int64(calls(to: Self.allocators)),
            systemCalls: systemCalls.map { Int64($0) }, reads: Int64(calls(to: Self.reads)))
    }
}
