// Tests of computed time limits: those in the past, and those that are infinite.
import CStillingWellPlatform
import Foundation
import StillingWellSync
import Testing

@testable import StillingWell

@Suite("Limits of time")
struct TimeoutTests {
    @Test(
        "a deadline that has passed is tried once, and is over",
        arguments: [0, -0.0, -1e-12, -1, -1e30, -Double.infinity])
    func passed(_ timeout: Double) throws {
        let test = try TestStore()
        try test.whileLocked { _ in
            #expect(throws: StoreError.writeTimedOut(seconds: 0)) { try test.store.write(timeout: timeout) { _ in } }
            let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
            #expect(throws: StoreError.writeTimedOut(seconds: 0)) { try connection.beginWrite(timeout: timeout) }
        }
        let free = try TestStore()
        try free.store.write(timeout: timeout) { try $0.add(Note(id: 1)) }
    }

    @Test("a limit that never passes is none", arguments: [Double.infinity, 1e12, .greatestFiniteMagnitude, 9.3e9])
    func endless(_ timeout: Double) throws {
        let test = try TestStore()
        try test.store.write(timeout: timeout) { try $0.add(Note(id: 1)) }
        // The same while another writer holds the lock.
        let page = test.store.core.storage.page
        let outcome = Watched<Result<Void, any Error>?>(nil)
        try test.whileLocked { letGo in
            let waiting = TracedThread("waiting") {
                let result = Result { try test.store.write(timeout: timeout) { try $0.add(Note(id: 2)) } }
                outcome.update { $0 = result }
            }
            while cp_load32(page.waiting) == 0, outcome.value == nil { sched_yield() }
            letGo()
            try outcome.wait("the waiting writer") { $0 != nil }
            waiting.join()
        }
        try outcome.value?.get()
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
