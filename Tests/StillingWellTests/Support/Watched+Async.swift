// Waiting without holding one of the few threads that tasks share: whoever is waited for may need it.
import Foundation
import Testing

extension Watched {
    /// Waits, suspended, until `condition` holds. Patiently: tests that wait without being suspended may hold all threads
    /// of the pool, and what this one waits for comes after them.
    @discardableResult
    func reached(_ what: Comment, _ condition: @escaping @Sendable (Value) -> Bool) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try self.wait(what, atMostS: 600, condition) })
            }
        }
    }
}
