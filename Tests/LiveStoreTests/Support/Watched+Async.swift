// Waiting without holding one of the few threads that tasks share: whoever is waited for may need it.
import Foundation
import Testing

extension Watched {
    /// Waits, suspended, until `condition` holds; fails the test after 20 s, which only a hang takes.
    @discardableResult
    func reached(_ what: Comment, _ condition: @escaping @Sendable (Value) -> Bool) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try self.wait(what, condition) })
            }
        }
    }
}
