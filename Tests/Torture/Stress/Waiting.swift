// Means by which threads wait for each other or hand over values.
import Glibc
import StillingWellSync

func monotonicNs() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func sleep(us: Int) { usleep(UInt32(us)) }

/// An event that happens once.
final class Flag: @unchecked Sendable {
    private let lock: TracedMutex
    private let changed: TracedCondition
    private var isUp = false

    init(_ name: String) {
        lock = TracedMutex(name)
        changed = TracedCondition(name, lock)
    }

    func raise() {
        lock.withLock {
            isUp = true
            changed.broadcast()
        }
    }

    var isRaised: Bool { lock.withLock { isUp } }

    /// - Returns: whether the flag was raised within `seconds`.
    @discardableResult
    func wait(seconds: Double) -> Bool {
        let deadlineNs = monotonicNs() + Int64(seconds * 1e9)
        return lock.withLock {
            while !isUp, monotonicNs() < deadlineNs { changed.wait(untilNs: deadlineNs) }
            return isUp
        }
    }
}

/// A gate that admits the writers of this process, or keeps all of them out. During some kills no writer may commit, so
/// that none wakes upkeep in place of the killed one. `lock` guards all properties.
final class Gate: @unchecked Sendable {
    private let lock = TracedMutex("gate")
    private let changed: TracedCondition
    private var isClosed = false
    private var insideCount = 0

    init() { changed = TracedCondition("gate", lock) }

    /// Waits while the gate is closed.
    func enter() {
        lock.withLock {
            while isClosed { changed.wait() }
            insideCount += 1
        }
    }

    /// Enters without waiting. Returns false if the gate is closed.
    func tryEnter() -> Bool {
        lock.withLock {
            if isClosed { return false }
            insideCount += 1
            return true
        }
    }

    func leave() {
        lock.withLock {
            insideCount -= 1
            changed.broadcast()
        }
    }

    /// Keeps further callers out and waits until those inside have left.
    func close() {
        lock.withLock {
            isClosed = true
            while insideCount > 0 { changed.wait() }
        }
    }

    func open() {
        lock.withLock {
            isClosed = false
            changed.broadcast()
        }
    }
}

/// A value handed from one thread to another.
final class Box<Value: Sendable>: @unchecked Sendable {
    private let lock = TracedMutex("box")
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value { lock.withLock { stored } }
    func set(_ value: Value) { lock.withLock { stored = value } }
}
