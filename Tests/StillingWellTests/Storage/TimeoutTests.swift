// Tests of computed time limits: those in the past, and those that are infinite.
import CStillingWellPlatform
import Foundation
import StillingWellSync
import Testing

@testable import StillingWell

@Suite("Limits of time")
struct TimeoutTests {
    @Test(
        "a deadline in the past tries once and then times out",
        arguments: [Duration.zero, .nanoseconds(-1), .seconds(-1), .seconds(Int64.min)])
    func passed(_ timeout: Duration) throws {
        let test = try TestStore()
        try test.whileLocked { _ in
            #expect(throws: StoreError.writeTimedOut(after: .zero)) { try test.store.write(timeout: timeout) { _ in } }
            let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
            #expect(throws: StoreError.writeTimedOut(after: .zero)) { try connection.beginWrite(timeout: timeout) }
        }
        let free = try TestStore()
        try free.store.write(timeout: timeout) { try $0.add(Note(id: 1)) }
    }

    @Test(
        "a timeout of nil or of centuries waits without limit",
        arguments: [Duration?.none, .seconds(Int64.max), .seconds(9_300_000_000)])
    func endless(_ timeout: Duration?) throws {
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
}
