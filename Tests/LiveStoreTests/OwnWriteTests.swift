// What a connection sees of its own writes: at once, without a delivery, and without letting anyone else's in.
import Foundation
import LiveStore
import Testing
import TracedSync

@Suite("A connection's own writes")
struct OwnWriteTests {
    /// Runs `body` on a run loop that does not turn meanwhile, with three notes ordered by score.
    private func onRunLoop(_ body: @escaping @Sendable (Connection, Results<Note>, Store) throws -> Void) throws {
        let test = try TestStore()
        try test.store.write { for id in 0..<3 { try $0.add(Note(id: id, score: id * 10)) } }
        let thread = RunLoopThread("own-writes")
        defer { thread.stop() }
        let isReady = Watched(false)
        nonisolated(unsafe) var token: NotificationToken?
        nonisolated(unsafe) var notes: Results<Note>?
        try thread.performAndWait {
            notes = try test.store.connect(on: .runLoop).objects(Note.self).sorted(by: \.score)
            token = try notes?.observe { _ in isReady.update { $0 = true } }
        }
        try isReady.wait("initial") { $0 }
        try thread.performAndWait {
            try body(notes!.connection, notes!, test.store)
            token?.invalidate()
            notes = nil
        }
    }

    @Test("are shown inside the block and after it, in order")
    func shown() throws {
        try onRunLoop { connection, notes, _ in
            try connection.write {
                #expect(notes.map(\.id) == [0, 1, 2])
                notes[0].score = 15
                #expect(notes.map(\.id) == [1, 0, 2])
                notes[1].score = 25
                try connection.add(Note(id: 3, score: 5))
                try connection.delete(notes[1])
                #expect(notes.map(\.id) == [3, 2, 0])
            }
            #expect(notes.map(\.id) == [3, 2, 0])
            #expect(notes.map(\.score) == [5, 20, 25])
        }
    }

    @Test("an index that was shown names the same row inside the write, whatever others committed meanwhile")
    func stableIndices() throws {
        try onRunLoop { connection, notes, store in
            let other = TracedThread("other") {
                try? store.write { connection in
                    try connection.add(Note(id: 9, score: -1))
                    try connection.object(Note.self, forPrimaryKey: 1).map { try connection.delete($0) }
                }
            }
            other.join()
            #expect(notes.map(\.id) == [0, 1, 2])
            try connection.write {
                // Membership and order are as shown; properties read the transaction, and a row deleted by somebody
                // else reads as it was shown.
                #expect(notes.count == 3)
                #expect(notes[1].isInvalidated && notes[1].id == 1)
                notes[2].score = 21
            }
            #expect(notes.map(\.id) == [0, 1, 2])
            #expect(notes[2].score == 21)
        }
    }

    @Test("a cancelled write leaves nothing behind, not even what was read inside it")
    func cancelled() throws {
        struct Stop: Error {}
        try onRunLoop { connection, notes, _ in
            try connection.write { notes[2].score = 5 }
            #expect(notes.map(\.id) == [0, 2, 1])
            #expect(throws: Stop.self) {
                try connection.write {
                    notes[0].score = 99
                    #expect(notes.map(\.id) == [2, 1, 0])
                    throw Stop()
                }
            }
            #expect(notes.map(\.id) == [0, 2, 1])
            #expect(notes.map(\.score) == [0, 5, 10])
        }
    }

    @Test("results that nobody observes are read where the connection stands")
    func unobserved() throws {
        try onRunLoop { connection, notes, store in
            let high = notes.where(\.score >= 10)
            #expect(high.map(\.id) == [1, 2])
            try connection.write { notes[0].score = 11 }
            #expect(high.map(\.id) == [1, 0, 2])
            let other = TracedThread("other") { try? store.write { try $0.add(Note(id: 9, score: 50)) } }
            other.join()
            #expect(high.map(\.id) == [1, 0, 2])
        }
    }
}
