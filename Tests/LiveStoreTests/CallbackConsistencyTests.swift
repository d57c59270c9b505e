import Foundation
import Testing
import TracedSync

@testable import LiveStore

@Suite("What a callback sees")
struct CallbackConsistencyTests {
    @Test("a write inside a write is an error while another writer insists on being next, too")
    func nestedWhileStarving() throws {
        let test = try TestStore()
        let page = test.store.core.storage.page
        nonisolated(unsafe) var contender: TracedThread?
        try test.store.write { _ in
            contender = TracedThread("contender") {
                do { try test.store.write { try $0.add(Note(id: 1)) } } catch { Issue.record(error) }
            }
            // Until the other writer holds the gate.
            while pthread_mutex_trylock(page.gate) == 0 {
                pthread_mutex_unlock(page.gate)
                sched_yield()
            }
            #expect(throws: StoreError.writeInsideWrite) { try test.store.write(timeout: 1) { _ in } }
        }
        contender?.join()
        #expect(try test.store.read { try $0.objects(Note.self).count } == 1)
    }
}
