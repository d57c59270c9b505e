// Counters of instructions, or of an engine's own work. Counts do not depend on the speed of the machine. Counts of
// different counters are not comparable.
import CStillingWellPlatform
import Glibc

/// Source of counts.
public enum InstructionCounter: String, Codable, Sendable, CaseIterable {
    /// The processor's counter via the kernel (`perf_event_open`). Often missing in virtual machines.
    case hardware
    /// valgrind, which executes the program itself, one thread at a time.
    case callgrind
    /// The engine's own counters, for an engine in another process, whose instructions are not counted.
    case engine

    /// Version of the counting method. It is raised when counts of the same program change, because the environment of
    /// counted trials or the excluded work has changed. Figures of different methods are not comparable.
    public static let method = 2

    /// Returns the best counter of this machine.
    /// - Throws: `Missing` if there is none.
    public static func ofThisMachine() throws -> InstructionCounter {
        let descriptor = cp_open_instruction_counter(0)
        if descriptor >= 0 {
            close(descriptor)
            return .hardware
        }
        if Subprocess.find(Callgrind.program) != nil, Subprocess.find("strip") != nil { return .callgrind }
        throw Missing()
    }

    public struct Missing: Error, CustomStringConvertible {
        public init() {}

        public var description: String {
            """
            this machine counts no instructions: the kernel offers no counters to this process, and there is no valgrind \
            with strip on the PATH; `make setup` installs both where it may (or: apt-get install valgrind binutils), and the \
            build has to be made after that
            """
        }
    }
}

/// Conventions between a trial's process under callgrind and its parent.
public enum Callgrind {
    public static let program = "valgrind"
    /// Beginning of the names of callgrind's output files.
    public static let fileName = "callgrind.out"

    /// Label of a dump.
    public enum Part: String, Sendable {
        /// Each counted thread calls the function that names its role.
        case roles
        /// Iterations without a commit, whose cost is subtracted.
        case rest
        case commits
    }

    /// Returns the function that threads of a role call in `Part.roles`.
    public static func function(of role: ThreadRole) -> String { "tidegauge_role_\(number(of: role))" }

    /// Returns the argument of `cp_mark_role`.
    public static func number(of role: ThreadRole) -> Int32 {
        switch role {
        case .writer: 0
        case .observer: 1
        case .upkeep: 2
        case .other: 3
        }
    }
}
