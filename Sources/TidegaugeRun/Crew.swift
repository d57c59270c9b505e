// Runs independent parts of work, such as counted trials, on several threads.
import StillingWellSync

/// Threads that process numbered parts.
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
    ///   - parts: number of parts, which are started in order from 0.
    ///   - hands: number of threads.
    ///   - hand: called once on each thread with its number; returns the function that processes a part.
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

    /// Waits for a part and returns its result. Must be called at most once for each part, and not after `dismiss`.
    public func result(_ part: Int) -> Result {
        state.wait(for: changed) { $0.results[part] != nil }
        return state.withLock { $0.results.removeValue(forKey: part)! }
    }

    /// Starts no further parts, and returns when the running ones have finished.
    public func dismiss() {
        state.withLock { $0.next = parts }
        for thread in threads { thread.join() }
        threads = []
    }
}
