// Writes that are not ended. The library's log goes to standard output, which the starting process reads.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSync

/// Abandons a write in four ways, and makes a write after each.
func abandonWrites(_ store: Store) throws {
    dup2(1, 2)
    func expectFree(_ what: String) {
        do {
            let batches = try store.write(timeout: .zero) { connection in
                let batches = try Batches.value("batches", connection)
                try Batches.increment("free", connection)
                return batches
            }
            say("\(what): free, \(batches) batches")
        } catch {
            say("\(what): \(error)")
        }
    }
    struct Thrown: Error {}
    func throwing() throws {
        let connection = try store.connect(on: .runLoop)
        try connection.beginWrite()
        try Batches.insert(connection)
        throw Thrown()
    }
    try? throwing()
    expectFree("released")

    nonisolated(unsafe) var kept: Connection?
    TracedThread("short-lived") {
        do {
            let connection = try store.connect(on: .runLoop)
            kept = connection
            try connection.beginWrite()
            try Batches.insert(connection)
        } catch {
            refuse("\(error)")
        }
    }.join()
    expectFree("thread ended")
    withExtendedLifetime(kept) {}

    // Waits for the thread's end, because it logs the cancelled write after it has released the lock.
    TracedThread("exiting") {
        try? store.write { connection in
            try Batches.insert(connection)
            // AddressSanitizer does not see that an exiting thread leaves its frames. Its own function declares it.
            if let leave = dlsym(nil, "__asan_handle_no_return") {
                unsafeBitCast(leave, to: (@convention(c) () -> Void).self)()
            }
            Thread.exit()
        }
    }.join()
    expectFree("exited in a block")

    try store.read { connection in
        try connection.beginWrite()
        try Batches.insert(connection)
    }
    expectFree("read block")
}
