// Tokens that are not kept. The library's log goes to standard output, which the starting process reads.
import Foundation
import StillingWell
import StillingWellFixtures

/// Observes results, a filter, the store and an object, drops the tokens without invalidation before any delivery,
/// drops one more after a delivery, and commits again.
func dropTokens(_ store: Store) throws {
    dup2(1, 2)
    try store.write { try Batches.insert($0) }
    let connection = try store.connect(on: .runLoop)
    let halves = try connection.objects(Half.self)
    var initials = 0
    func told(_ name: String) { say("told \(name)") }
    var tokens: [NotificationToken] = []
    func made(_ token: NotificationToken, line: Int = #line) {
        tokens.append(token)
        say("dropping stillingwell_fixture/Drop.swift:\(line)")
    }
    made(try halves.observe { if case .initial = $0 { initials += 1 } else { told("results") } })
    made(try halves.where(\.amount > 0).observe { if case .initial = $0 { initials += 1 } else { told("filtered") } })
    made(try connection.observe { _, _ in told("store") })
    made(try halves[0].observe { _ in told("object") })
    tokens = []
    var shown: NotificationToken? = try halves.observe {
        if case .initial = $0 { initials += 1 } else { told("shown") }
    }
    let invalidated = try halves.observe { _ in told("invalidated") }
    invalidated.invalidate()
    var isTold = false
    let kept = try halves.observe { change in
        if case .initial = change { return initials += 1 }
        told("kept")
        isTold = true
    }
    while initials < 2 { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
    if shown != nil { shown = nil }
    try store.write { connection in
        try Batches.delete(0, connection)
        try Batches.insert(connection)
    }
    while !isTold { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
    kept.invalidate()
}
