// Waits without blocking a thread of the concurrency pool, which other tasks may need.
import Foundation
import Testing

extension Watched {
    /// Suspends until `condition` holds, for up to 600 s. Tests that block may occupy all threads of the pool for that
    /// long.
    @discardableResult
    func reached(_ what: Comment, _ condition: @escaping @Sendable (Value) -> Bool) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try self.wait(what, atMostS: 600, condition) })
            }
        }
    }
}
