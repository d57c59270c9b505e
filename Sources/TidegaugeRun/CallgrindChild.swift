// Makes the command that runs a trial under callgrind, and reads callgrind's output. The command runs a copy of the
// program without debug information, because valgrind cannot read Swift's. Function names stay.
import Foundation
import TidegaugeMeasure
import TidegaugeProfiles
import TidegaugeTrial

enum CallgrindChild {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Maximum number of callers recorded per function, if call paths are profiled.
    private static let deepestCallers = 40
    private static let stripTimeoutNs: Int64 = 300_000_000_000

    /// Copies a program without debug information.
    static func strip(_ program: String, to copy: String) throws {
        guard let strip = Subprocess.find("strip") else { throw InstructionCounter.Missing() }
        let ran = try Subprocess.run(
            strip, ["--strip-debug", "-o", copy, program], timeoutNs: stripTimeoutNs)
        guard ran.isSuccess else {
            throw Failure(description: "strip \(program): \(String(decoding: ran.errors, as: UTF8.self))")
        }
    }

    /// - Parameters:
    ///   - results: folder for callgrind's output.
    ///   - callPaths: whether the profile records callers.
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

    /// Counts and profiles by role of threads.
    struct Counts {
        var inCommits: [String: CountAccount.Amounts] = [:]
        var atRest: [String: CountAccount.Amounts] = [:]
        /// Profiles of the counted commits.
        var profiles: [ThreadRole: CallProfile] = [:]
    }

    /// Reads callgrind's output from `results`.
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
            throw Failure(description: "\(results): callgrind wrote no profile of the counted commits")
        }
        return counts
    }
}

extension CallgrindPart {
    /// Name that the trial gave the part; nil for others, such as the part written at process exit.
    fileprivate var label: Callgrind.Part? {
        trigger.flatMap { $0.split(separator: " ").last }.flatMap { Callgrind.Part(rawValue: String($0)) }
    }

    /// The part without lookups in the Swift runtime's hash tables of types. Their cost depends on memory addresses and
    /// so differs between processes.
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

    /// Allocation functions. A call from one to another counts as well.
    private static let allocators: Set = [
        "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "je_malloc", "je_calloc",
    ]
    /// Functions that read rows and entries from a storage engine.
    private static let reads: Set = ["mdb_get", "mdb_cursor_get", "sqlite3_step"]

    fileprivate var amounts: CountAccount.Amounts {
        .init(
            instructions: Int64(total), allocations: Int64(calls(to: Self.allocators)),
            systemCalls: systemCalls.map { Int64($0) }, reads: Int64(calls(to: Self.reads)))
    }
}
