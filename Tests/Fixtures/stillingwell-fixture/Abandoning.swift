// Writes that nobody ends. What the library logs goes to standard output, for the starter to read.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSync

/// Leaves a write in each way there is, and writes after each.
func abandonWrites(_ store: Store) throws {
    dup2(1, 2)
    func expectFree(_ what: String) {
        do {
            let batches = try store.write(timeout: 0) { connection in
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

    let exiting = Thread {
        try? store.write { connection in
            try Batches.insert(connection)
            Thread.exit()
        }
    }
    exiting.start()
    while !exiting.isFinished { usleep(1_000) }
    // The thread has said so a little before it is gone.
    for _ in 0..<60_000 {
        if (try? store.write(timeout: 0) { _ = try Batches.increment("free", $0) }) != nil { break }
        usleep(1_000)
    }
    expectFree("exited in a block")

    try store.read { connection in
        try connection.beginWrite()
        try Batches.insert(connection)
    }
    expectFree("read block")
}
