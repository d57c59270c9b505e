// Schedule of flushes that no commit waits for. Pure.

package struct FlushPlan: Sendable {
    /// Whether a store whose commits do not wait is flushed. If false, it holds no versions either, and a power cut may
    /// damage it. For measurements of other costs.
    package var isOn = true
    /// Number of commits after which a flush begins. Each commit may keep 26 KB of the file until the flush is over.
    package var everyCommits: UInt64 = 256
    /// Maximum number of unflushed commits; further commits wait.
    package var mostCommits: UInt64 = 1_024
    /// Time after the first unflushed commit at which a flush begins. If nil, only commits are counted.
    package var intervalNs: Int64? = 250_000_000
    /// Time after which a failed flush is tried again. If nil, it is tried again only on request.
    package var retryNs: Int64? = 1_000_000_000
    /// Boot during which the machine runs.
    package var boot = BootID.current

    package init() {}
}
