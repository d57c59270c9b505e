// The parties that CPU time is charged to.

/// Whose work a thread does.
public enum ThreadRole: String, Codable, Sendable, CaseIterable {
    /// Runs the writers' commits.
    case writer
    /// The engine's own background threads: keeps queries true and computes change sets.
    case upkeep
    /// Runs the observers' callbacks.
    case observer
    /// Everything else: the harness itself, and threads born or ended within the window.
    case other
}
