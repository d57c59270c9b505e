// Stores in folders of their own, places to observe from, and ways to wait *on* something.
import Foundation
import LiveStore
import Testing
import TracedSync

/// A store in a new folder, which goes with it.
final class TestStore: Sendable {
    let store: Store
    let path: String

    init(_ models: [StoredObject.Type] = [Note.self], durability: Durability = .relaxed) throws {
        path = NSTemporaryDirectory() + "livestore-test-\(UUID().uuidString)"
        store = try Store(.init(path: path, models: models, durability: durability))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A value that threads change under a lock and wait for.
final class Watched<Value: Sendable>: @unchecked Sendable {
    private let lock = TracedMutex("test value")
    private let changed: TracedCondition
    private var stored: Value

    init(_ value: Value) {
        stored = value
        changed = TracedCondition("test value", lock)
    }

    var value: Value { lock.withLock { stored } }

    func update(_ body: (inout Value) -> Void) {
        lock.withLock {
            body(&stored)
            changed.broadcast()
        }
    }

    /// Waits until `condition` holds; fails the test after a time which only a hang takes.
    @discardableResult
    func wait(_ what: Comment, atMostS limitS: UInt64 = 300, _ condition: (Value) -> Bool) throws -> Value {
        let deadline = DispatchTime.now().uptimeNanoseconds + limitS * 1_000_000_000  // monotonic on Linux
        lock.lock()
        defer { lock.unlock() }
        while !condition(stored) {
            try #require(changed.wait(untilNs: Int64(deadline)), "waited too long for: \(what); have \(stored)")
        }
        return stored
    }
}
