// The clock of a host beside this process's own: one clock where both say so and no ping says otherwise; a difference within bounds
// where not. The conducting thread's.
import TidegaugeMeasure

struct HostClock {
    /// Both read one clock, as far as is known: its moments are this process's.
    private(set) var isSame: Bool
    private var offset = ClockOffset()

    /// - Parameter isSame: whether both say that they read one clock.
    init(isSame: Bool) { self.isSame = isSame }

    var exchanges: Int { offset.exchanges }

    /// - Throws: where no difference of two clocks explains the exchanges.
    mutating func add(_ exchange: ClockExchange) throws(ClockContradiction) {
        // Two machines that were resumed from one image say that they are one.
        if exchange.lowerNs > 0 || exchange.upperNs < 0 { isSame = false }
        try offset.add(exchange)
    }

    /// A moment of the host here, and by how much it may be wrong either way.
    func local(_ ns: Int64) -> (ns: Int64, halfWidthNs: Int64) {
        isSame ? (ns, 0) : offset.local(ns) ?? (ns, .max)
    }

    /// A moment here as the host shows it, in the middle of what is possible.
    func remote(_ ns: Int64) -> Int64 { isSame ? ns : offset.remote(ns) ?? ns }

    /// Between what the difference lies; nil before the first exchange.
    func bounds(atNs: Int64) -> ClosedRange<Int64>? { isSame ? 0...0 : offset.bounds(atNs: atNs) }
}
