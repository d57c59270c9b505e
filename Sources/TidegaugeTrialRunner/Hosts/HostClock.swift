// The clock of a host relative to this process's clock. They are the same clock if both say so and no ping
// contradicts it; otherwise their difference is known within bounds. Used by the conducting thread.
import TidegaugeMeasure

struct HostClock {
    /// Whether both read one clock as far as is known; times of the host are then valid here.
    private(set) var isSame: Bool
    private var offset = ClockOffset()

    /// - Parameter isSame: whether both processes report the same clock.
    init(isSame: Bool) { self.isSame = isSame }

    var exchanges: Int { offset.exchanges }

    /// - Throws: if no difference of two clocks explains the exchanges.
    mutating func add(_ exchange: ClockExchange) throws(ClockContradiction) {
        // Two machines that were resumed from one image report the same clock.
        if exchange.lowerNs > 0 || exchange.upperNs < 0 { isSame = false }
        try offset.add(exchange)
    }

    /// Converts a time of the host to this clock. Returns it with its uncertainty (±).
    func local(_ ns: Int64) -> (ns: Int64, halfWidthNs: Int64) {
        isSame ? (ns, 0) : offset.local(ns) ?? (ns, .max)
    }

    /// Converts a time here to the host's clock, using the middle of the possible range.
    func remote(_ ns: Int64) -> Int64 { isSame ? ns : offset.remote(ns) ?? ns }

    /// Returns the bounds of the difference of the clocks, or nil before the first exchange.
    func bounds(atNs: Int64) -> ClosedRange<Int64>? { isSame ? 0...0 : offset.bounds(atNs: atNs) }
}
