// When what nobody waits for is flushed. Pure.

package struct FlushPlan: Sendable {
    /// False: nothing is flushed but what is waited for, nor held, and a power cut may damage a store whose commits do not wait. For who
    /// measures what something else costs.
    package var isOn = true
    /// Commits that a flush begins after. Each may keep 26 KB of the file until it is over.
    package var everyCommits: UInt64 = 256
    /// How far commits may be ahead of the flush before they wait for it.
    package var mostCommits: UInt64 = 1_024
    /// Time that a flush begins after, if there was any commit; nil: it goes by commits alone.
    package var intervalNs: Int64? = 250_000_000
    /// Time that another try begins after, where a flush could not begin; nil: it goes by wishes alone.
    package var retryNs: Int64? = 1_000_000_000
    /// During which the machine runs.
    package var boot = BootID.current

    package init() {}
}
