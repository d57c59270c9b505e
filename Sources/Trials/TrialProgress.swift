// What a child says while it runs a trial: a line of JSON on its standard output.

/// Where a trial stands.
public struct TrialProgress: Codable, Sendable {
    public enum Phase: String, Codable, Sendable {
        case loading, subscribing, measuring, settling, checking
    }

    public var phase: Phase
    /// Of the measured window, 0 … 1 (above 1 while writers are late).
    public var fraction: Double
    public var commits: Int
    public var callbacks: Int

    package init(_ phase: Phase) {
        self.phase = phase
        fraction = phase == .settling || phase == .checking ? 1 : 0
        commits = 0
        callbacks = 0
    }
}
