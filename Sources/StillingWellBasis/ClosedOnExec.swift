// Files that a program started by this process does not inherit.
import Foundation

extension FileHandle {
    /// Opens the file at `path` with O_CLOEXEC. Returns nil, with `errno`, if it cannot be opened.
    /// - Parameters:
    ///   - flags: flags of open(2), such as `O_RDONLY`.
    ///   - mode: permissions of a file that is made, before the process's umask.
    package convenience init?(closedOnExec path: String, _ flags: Int32, mode: mode_t = 0o666) {
        let file = open(path, flags | O_CLOEXEC, mode)
        if file < 0 { return nil }
        self.init(fileDescriptor: file, closeOnDealloc: true)
    }
}
