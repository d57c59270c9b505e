// Work in parts on several threads, for parts that do not mind each other: counted trials.
import StillingWellSync

/// Threads that share work of numbered parts, whose results are asked for in order. Used by one thread.
public final class Crew<Result: Sendable> {
    private struct State {
        var next = 0
        var results: [Int: Result] = [:]
    }

    private let parts: Int
    private let state: Guarded<State>
    private let changed: TracedCondition
    private var threads: [TracedThread] = []

    /// - Parameters:
    ///   - parts: numbered from 0, and begun in that order.
    ///   - hands: threads at work.
    ///   - hand: called on each of them with its number, for what it does with a part.
    public init(_ parts: Int, hands: Int, hand: @escaping @Sendable (Int) -> (Int) -> Result) {
        self.parts = parts
        let state = Guarded("work of a crew", State())
        let changed = TracedCondition("work of a crew", state)
        (self.state, self.changed) = (state, changed)
        threads = (0..<hands).map { number in
            TracedThread("crew \(number)") {
                let work = hand(number)
                while let part = state.withLock({ Self.take(&$0, of: parts) }) {
                    let result = work(part)
                    state.withLock {
                        $0.results[part] = result
                        changed.broadcast()
                    }
                }
            }
        }
    }

    private static func take(_ state: inout State, of parts: Int) -> Int? {
        guard state.next < parts else { return nil }
        defer { state.next += 1 }
        return state.next
    }

    /// Returns when that part is done. Not to be asked for behind `dismiss`.
    public func result(_ part: Int) -> Result {
        state.wait(for: changed) { $0.results[part] != nil }
        return state.withLock { $0.results.removeValue(forKey: part)! }
    }

    /// Returns when parts that were begun are done; no other is begun.
    public func dismiss() {
        state.withLock { $0.next = parts }
        for thread in threads { thread.join() }
        threads = []
    }
}
