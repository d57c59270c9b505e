// Who counts instructions, which do not depend on how fast a machine is or what else it does. What one counter says is never
// compared with what another does.
import CStillingWellPlatform
import Glibc

/// Where counts of instructions come from.
public enum InstructionCounter: String, Codable, Sendable, CaseIterable {
    /// The processor, through the kernel (`perf_event_open`): costs nothing; virtual machines often have none.
    case hardware
    /// valgrind, which executes the program itself, one thread at a time.
    case callgrind

    /// Raised whenever the same program would be counted otherwise than before: by what surrounds a counted trial, or by
    /// what is left out of a count. Figures of different methods are never compared either.
    public static let method = 2

    /// The better one of this machine.
    /// - Throws: `Missing` where there is none.
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

/// How a trial's process and its parent use callgrind.
public enum Callgrind {
    public static let program = "valgrind"
    /// In the folder of the trial's result. Each part of the trial has a file per thread.
    public static let fileName = "callgrind.out"

    /// What a dump is of, as its label says.
    public enum Part: String, Sendable {
        /// Every thread calls the function that says whose it is.
        case roles
        /// The turns alone, without commits.
        case rest
        case commits
    }

    /// The function that a thread of a role calls in `Part.roles`.
    public static func function(of role: ThreadRole) -> String { "tidegauge_role_\(number(of: role))" }

    /// For `cp_mark_role`.
    public static func number(of role: ThreadRole) -> Int32 {
        switch role {
        case .writer: 0
        case .observer: 1
        case .upkeep: 2
        case .other: 3
        }
    }
}
