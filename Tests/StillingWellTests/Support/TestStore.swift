// A store in a folder of its own, and a value whose changes threads wait for.
import Foundation
import StillingWellSync
import Testing

@testable import StillingWell

/// A store in a new folder. The folder is removed with it.
final class TestStore: Sendable {
    let store: Store
    let path: String

    init(
        _ models: [StoredObject.Type] = [Note.self], durability: Durability = .relaxed,
        upkeepPollNs: Int64? = Upkeep.pollNs, flushes: FlushPlan = .init()
    ) throws {
        path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        var configuration = Store.Configuration(path: path, models: models, durability: durability)
        configuration.upkeepPollNs = upkeepPollNs
        configuration.flushes = flushes
        store = try Store(configuration)
    }

    /// Same as of the store, for asynchronous tests, in which the store's own methods suspend.
    @discardableResult
    func write<Result>(_ body: (Connection) throws -> Result) throws -> Result { try store.write(body) }

    /// Same as of the store, for asynchronous tests.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result { try store.read(body) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Runs `body` while another thread holds the write lock. The lock is released when `body` calls its argument, or
    /// when it ends.
    func whileLocked(_ body: (_ letGo: () -> Void) throws -> Void) throws {
        let isHeld = Watched(false)
        let mayEnd = Watched(false)
        let holder = TracedThread("holder") { [store] in
            try? store.write { _ in
                isHeld.update { $0 = true }
                try mayEnd.wait("the end") { $0 }
            }
        }
        let letGo = { mayEnd.update { $0 = true } }
        defer {
            letGo()
            holder.join()
        }
        try isHeld.wait("the lock") { $0 }
        try body(letGo)
    }
}

extension FlushPlan {
    /// A plan without flushes, for tests of other things that retain pages in the file.
    static var off: FlushPlan {
        var plan = FlushPlan()
        plan.isOn = false
        return plan
    }
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

    /// Waits until `condition` holds. Fails the test after `limitS` seconds.
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
