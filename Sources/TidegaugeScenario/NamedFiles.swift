// The files that a scenario may name: traces beside it, and the scenario that it extends. Who reads files says what they are.

/// What lies around a scenario.
public struct NamedFiles {
    /// A file that `extends` names.
    public enum Extended {
        case found(path: String, bytes: [UInt8])
        /// How a refusal ends: with the name that was probably meant, or nothing.
        case missing(hint: String)
        /// There is one, and it cannot be read: why, and what to do about it.
        case unreadable(path: String, String)
    }

    /// A file in the folder of a scenario.
    public enum Beside {
        case found([UInt8])
        case missing
        /// There is one, and it cannot be read: why, and what to do about it.
        case unreadable(String)
    }

    /// The file of a name in the folder of the scenario at a path.
    let beside: (_ name: String, _ path: String) -> Beside
    /// Stands in for all traces that scenarios name.
    var trace: (name: String, bytes: [UInt8])?
    /// The scenario that the one at a path extends: a file beside it, or one that has this name.
    let extended: (_ name: String, _ path: String) -> Extended

    public init(
        beside: @escaping (_ name: String, _ path: String) -> Beside = { _, _ in .missing },
        extended: @escaping (_ name: String, _ path: String) -> Extended = { _, _ in .missing(hint: "") }
    ) {
        (self.beside, self.extended) = (beside, extended)
    }
}
