// Access to the files that a scenario may name: traces and extended scenarios. The caller that reads files provides it.

/// Files around a scenario.
public struct NamedFiles {
    /// Result for a file named by `extends`.
    public enum Extended {
        case found(path: String, bytes: [UInt8])
        /// No such file. The hint with similar names ends the error message; may be empty.
        case missing(hint: String)
        /// The file exists but cannot be read, with the reason and remedy.
        case unreadable(path: String, String)
    }

    /// Result for a file in the folder of a scenario.
    public enum Beside {
        case found([UInt8])
        case missing
        /// The file exists but cannot be read, with the reason and remedy.
        case unreadable(String)
    }

    /// Reads a file by name in the folder of the scenario at `path`.
    let beside: (_ name: String, _ path: String) -> Beside
    /// Replacement for all traces that scenarios name, or nil.
    var trace: (name: String, bytes: [UInt8])?
    /// Reads the file that the scenario at `path` extends: a file beside it, or a scenario by name.
    let extended: (_ name: String, _ path: String) -> Extended

    public init(
        beside: @escaping (_ name: String, _ path: String) -> Beside = { _, _ in .missing },
        extended: @escaping (_ name: String, _ path: String) -> Extended = { _, _ in .missing(hint: "") }
    ) {
        (self.beside, self.extended) = (beside, extended)
    }
}
