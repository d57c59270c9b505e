// Example of a store as a channel between processes.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSync
import StillingWellTestThreads
import Testing

@Suite("Objects as messages between processes", .serialized, .onThreads)
struct MessagesTests {
    /// Sends requests and collects their answers, on a thread of its own.
    private final class Requester: @unchecked Sendable {
        let answers = Watched<[String: String]>([:])
        private let thread = RunLoopThread("requester")
        // Used on `thread` only.
        private var connection: Connection?
        private var token: NotificationToken?

        init(_ store: Store) throws {
            try thread.performAndWait { [self] in
                let connection = try store.connect(on: .runLoop)
                self.connection = connection
                let done = try connection.objects(Request.self).where(\.status == Request.Status.done.rawValue)
                token = try done.observe { [answers] change in
                    let new: [Request]
                    switch change {
                    // The first evaluation may come after the first answer.
                    case .initial(let requests): new = Array(requests)
                    case .update(let requests, let changes): new = changes.insertions.map { requests[$0] }
                    case .error(let error):
                        Issue.record(error)
                        return
                    }
                    let answered = new.map { ($0.text, $0.answer ?? "") }
                    answers.update { $0.merge(answered) { $1 } }
                }
            }
        }

        func send(_ texts: [String]) throws {
            try thread.performAndWait { [self] in
                try connection!.write { for text in texts { try connection!.add(Request(text)) } }
            }
        }

        func stop() throws {
            try thread.performAndWait { [self] in
                token?.invalidate()
                (token, connection) = (nil, nil)
            }
            thread.stop()
        }
    }

    @Test("a request written by one process is answered by another, both observing", arguments: Durability.allCases)
    func answers(_ durability: Durability) throws {
        let test = try TestStore([Request.self], durability: durability)
        let requester = try Requester(test.store)
        // No responder runs yet.
        try requester.send(["early"])
        let responder = try FixtureProcess(test, "respond")
        try responder.go()
        try requester.answers.wait("the early answer") { $0 == ["early": "ylrae"] }
        for round in 0..<20 { try requester.send((0..<3).map { "request \(round) \($0)" }) }
        try requester.answers.wait("all answers") { $0.count == 61 }
        #expect(requester.answers.value.allSatisfy { $1 == String($0.reversed()) })

        // A request that comes after the responder was killed is answered by the next one.
        try responder.killNow()
        try requester.send(["late"])
        let next = try FixtureProcess(test, "respond")
        try next.go()
        try requester.answers.wait("the late answer") { $0["late"] == "etal" }
        try requester.stop()
    }

    @Test("only one of several servers answers")
    func severalResponders() throws {
        let test = try TestStore([Request.self])
        let requester = try Requester(test.store)
        let responders = try (0..<2).map { _ in try FixtureProcess(test, "respond") }
        for responder in responders { try responder.go() }
        for round in 0..<30 { try requester.send(["request \(round)"]) }
        try requester.answers.wait("all answers") { $0.count == 30 }
        // At most one commit per request and one per answer.
        let commits = try test.store.read { $0.version }
        #expect(commits <= 60)
        try requester.stop()
    }
}
