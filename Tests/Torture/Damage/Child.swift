// A child process: this binary, which answers questions about one store. A child that exceeds its CPU time or its wall
// time counts as hung.
import CStillingWellPlatform
import Foundation
import Glibc
import StillingWellTortureSupport

struct Child {
    enum End: Equatable {
        case exited
        case crashed(signal: Int32)
        case hung
    }

    /// CPU seconds that a child may use.
    private static let processorSeconds: UInt = 30
    /// Wall time in ms that a child may take, long enough for a busy machine.
    private static let waitMs: Int32 = 120_000

    /// Limits CPU time and core dumps of the calling process. The child calls it before it opens the store.
    static func limitItself() {
        var limit = rlimit(rlim_cur: processorSeconds, rlim_max: processorSeconds)
        setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
        limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    struct CannotStart: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs one child and waits until it ends or is killed as hung.
    static func run(_ path: String, _ kind: StoreKind) throws -> (end: End, answers: Answers, errors: String) {
        let (out, err) = (path + ".out", path + ".err")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        cp_isolate_spawn(&actions, nil)
        let arguments = [program, "damage", "ask", path, "--kind", kind.rawValue]
        let argv = arguments.map { strdup($0) } + [nil]
        let environment = ProcessInfo.processInfo.environment.filter { $0.key != "SWIFT_BACKTRACE" }
        let variables = environment.map { "\($0.key)=\($0.value)" } + ["SWIFT_BACKTRACE=enable=no"]
        let envp = variables.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var pid: pid_t = 0
        let error = posix_spawn(&pid, "/proc/self/exe", &actions, nil, argv, envp)
        guard error == 0 else {
            throw CannotStart(description: "cannot start a child: \(String(cString: strerror(error)))")
        }
        let end = wait(for: pid)
        let text = { (path: String) in (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        return (end, Answers(text(out)), text(err))
    }

    private static func wait(for pid: pid_t) -> End {
        let ended = cp_pidfd(pid)
        defer { if ended >= 0 { close(ended) } }
        var entry = pollfd(fd: ended, events: Int16(POLLIN), revents: 0)
        if ended >= 0, poll(&entry, 1, waitMs) == 0 {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
            return .hung
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        switch status & 0x7f {
        case 0: return .exited
        case SIGXCPU, SIGKILL: return .hung
        case let signal: return .crashed(signal: signal)
        }
    }
}
