// Limits of time as callers compute them: those that have passed already, and those that never pass.
import Foundation
import Testing
import TracedSync

@testable import LiveStore

@Suite("Limits of time")
struct TimeoutTests {
    /// Runs `body` while another thread holds the write lock.
    private func whileLocked(_ body: (Store) throws -> Void) throws {
        let test = try TestStore()
        let isHeld = Watched(false)
        let mayEnd = Watched(false)
        let holder = TracedThread("holder") {
            try? test.store.write { _ in
                isHeld.update { $0 = true }
                try mayEnd.wait("the end") { $0 }
            }
        }
        try isHeld.wait("the lock") { $0 }
        defer {
            mayEnd.update { $0 = true }
            holder.join()
        }
        try body(test.store)
    }

    @Test(
        "a deadline that has passed is tried once, and is over",
        arguments: [0, -0.0, -1e-12, -1, -1e30, -Double.infinity])
    func passed(_ timeout: Double) throws {
        try whileLocked { store in
            #expect(throws: StoreError.writeTimedOut(seconds: 0)) { try store.write(timeout: timeout) { _ in } }
            let connection = try store.connect(on: .scheduler(ManualScheduler()))
            #expect(throws: StoreError.writeTimedOut(seconds: 0)) { try connection.beginWrite(timeout: timeout) }
        }
        let free = try TestStore()
        try free.store.write(timeout: timeout) { try $0.add(Note(id: 1)) }
    }

    @Test("a limit that never passes is none", arguments: [Double.infinity, 1e12, .greatestFiniteMagnitude, 9.3e9])
    func endless(_ timeout: Double) throws {
        let test = try TestStore()
        try test.store.write(timeout: timeout) { try $0.add(Note(id: 1)) }
        // Behind another writer too.
        let page = test.store.core.storage.page
        let isHeld = Watched(false)
        let mayEnd = Watched(false)
        let holder = TracedThread("holder") {
            try? test.store.write { _ in
                isHeld.update { $0 = true }
                try mayEnd.wait("the end") { $0 }
            }
        }
        try isHeld.wait("the lock") { $0 }
        let done = Watched<StoreError?>(nil)
        let isDone = Watched(false)
        let waiting = TracedThread("waiting") {
            do {
                try test.store.write(timeout: timeout) { try $0.add(Note(id: 2)) }
            } catch {
                done.update { $0 = error as? StoreError }
            }
            isDone.update { $0 = true }
        }
        while page.waiting.pointee == 0, !isDone.value { sched_yield() }
        mayEnd.update { $0 = true }
        try isDone.wait("the waiting writer") { $0 }
        holder.join()
        waiting.join()
        #expect(done.value == nil)
        #expect(try test.store.read { try $0.objects(Note.self).count } == 2)
    }

    @Test("what is no number is refused, with what to do, before anything is waited for")
    func notANumber() throws {
        let test = try TestStore()
        let text = refusal { try test.store.write(timeout: .nan) { _ in } }
        #expect(text.contains("not a number") && text.contains("nil"), "\(text)")
        try test.store.write { try $0.add(Note(id: 1)) }
    }
}
