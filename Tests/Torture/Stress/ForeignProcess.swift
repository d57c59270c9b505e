// One foreign writer process. This type does not use Foundation's `Process`: a killed child must be reaped at once,
// and its descriptors must not leak into children that are started later.
import Foundation
import Glibc
import StillingWellTortureSupport

struct ForeignProcess {
    let pid: pid_t
    /// The write end of its standard input. The child exits at end of file, so it ends with its parent.
    private let input: Int32

    struct CannotStart: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter standing: shared memory in which the child stores the version it keeps.
    init(_ arguments: [String], standing: SharedVersion) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CannotStart(description: "no pipe for a foreign writer: \(String(cString: strerror(errno)))")
        }
        // The pipe is made without `O_CLOEXEC`. Only this thread spawns programs, so none inherits it meanwhile.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        posix_spawn_file_actions_adddup2(&actions, standing.descriptor, SharedVersion.inherited)
        var pid: pid_t = 0
        let path = "/proc/self/exe"
        let argv = ([program, "stress"] + arguments).map { strdup($0) } + [nil]
        defer { for argument in argv { free(argument) } }
        let error = posix_spawn(&pid, path, &actions, nil, argv, environ)
        close(ends[0])
        guard error == 0 else {
            close(ends[1])
            throw CannotStart(description: "cannot start a foreign writer: \(String(cString: strerror(error)))")
        }
        self.pid = pid
        input = ends[1]
    }

    /// Stops the process and waits until it has stopped.
    func pause() {
        kill(pid, SIGSTOP)
        var status: Int32 = 0
        waitpid(pid, &status, WUNTRACED)
    }

    func resume() { kill(pid, SIGCONT) }

    /// Kills the process and waits until it is gone.
    /// - Returns: how it ended earlier by itself, or nil if it was alive.
    func killNow() -> String? {
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        close(input)
        let signal = status & 0x7f
        if signal == SIGKILL { return nil }
        return signal == 0 ? "it had exited with \((status >> 8) & 0xff)" : "it had died of signal \(signal)"
    }
}
