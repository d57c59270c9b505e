// A process with an open store, for tests of several processes. Many commands print `ready` and wait for a line on
// standard input. A command prints a line for each acknowledged action, without buffering.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSync

let usage =
    "usage: stillingwell-fixture PATH DURABILITY (increment NAME COUNT | insert COUNT | delete BATCH | hold | open | observe"
    + " | upgrade (old | new) COUNT | limit KILOBYTES | fill KILOBYTES | denied | respond | misuse KIND | drop | unmarked | unserved | workerless | freeze COUNT | fork | threadless | filled"
    + " | abandon | endings COUNT | signals KIND NUMBER)"

func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    guard write(1, bytes, bytes.count) == bytes.count else { exit(1) }
}

func refuse(_ reason: String) -> Never {
    FileHandle.standardError.write(Data("stillingwell-fixture: \(reason)\n".utf8))
    exit(64)
}

func number(_ text: String) -> Int {
    guard let number = Int(text) else { refuse("'\(text)' is no number; \(usage)") }
    return number
}

/// Waits for the line that starts the command, and ends the process at the end of the input.
func waitForGo() -> TracedThread {
    say("ready")
    guard readLine() != nil else { exit(0) }
    return TracedThread("standard input") {
        while readLine() != nil {}
        exit(0)
    }
}

func observe(_ store: Store) throws -> NotificationToken {
    let connection = try store.connect(on: .runLoop)
    return try connection.objects(Half.self).sorted(by: \.key).observe { change in
        func list(_ indices: [Int]) -> String { indices.map(String.init).joined(separator: ",") }
        switch change {
        case .initial(let halves): say("initial \(halves.count)")
        case .update(let halves, let changes):
            let kinds = [changes.deletions, changes.insertions, changes.modifications].map(list)
            say("update \(halves.count) -\(kinds[0]) +\(kinds[1]) ~\(kinds[2])")
        case .error(let error): refuse("\(error)")
        }
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3, let durability = Durability(rawValue: arguments[1]) else { refuse(usage) }
do {
    if arguments[2] == "denied" {
        // Root may do anything, so root becomes another user.
        if geteuid() == 0, setuid(65_534) != 0 { refuse("cannot become another user") }
        do {
            _ = try Store(.init(path: arguments[0], models: Batches.models, durability: durability))
        } catch {
            say("\(error)")
        }
        exit(0)
    }
    switch arguments[2] {
    case "open":
        do {
            _ = try Store(.init(path: arguments[0], models: Batches.models, durability: durability))
            say("opened")
        } catch {
            say("\(error)")
        }
        exit(0)
    case "unmarked":
        try openUnmarked(arguments[0], durability)
        exit(0)
    case "upgrade" where arguments.count == 5:
        try upgrade(arguments[0], durability, arguments[3], number(arguments[4]))
        exit(0)
    case "workerless":
        try observeWithoutWorkers(arguments[0], durability)
        exit(0)
    case "unserved":
        try observeUnserved(arguments[0], durability)
        exit(0)
    case "signals" where arguments.count == 5:
        try takeSignals(
            .init(path: arguments[0], models: Batches.models, durability: durability), arguments[3],
            Int32(number(arguments[4])))
    default: break
    }
    if arguments[2] == "fill", arguments.count == 4 { mountSmall(arguments[0], kilobytes: number(arguments[3])) }
    let models: [StoredObject.Type] =
        switch arguments[2] {
        case "respond": [Request.self]
        case "misuse": Batches.models + [Shelf.self]
        default: Batches.models
        }
    let configuration = Store.Configuration(path: arguments[0], models: models, durability: durability)
    let store = try arguments[2] == "fork" ? openLow(configuration) : Store(configuration)
    switch (arguments[2], Array(arguments[3...])) {
    case ("increment", let given) where given.count == 3:
        let input = waitForGo()
        let heldUs = number(given[2])
        for _ in 0..<number(given[1]) {
            let version = try store.write { connection in
                try Batches.increment(given[0], connection)
                Batches.spend(us: heldUs)
                return connection.version + 1
            }
            say("\(version)")
        }
        withExtendedLifetime(input) {}
    case ("insert", let given) where given.count == 1:
        let input = waitForGo()
        for _ in 0..<number(given[0]) { say("\(try store.write { try Batches.insert($0) })") }
        withExtendedLifetime(input) {}
    case ("delete", let given) where given.count == 1:
        let input = waitForGo()
        try store.write { try Batches.delete(number(given[0]), $0) }
        say("deleted")
        withExtendedLifetime(input) {}
    case ("hold", []):
        say("ready")
        guard readLine() != nil else { exit(0) }
        try store.write { connection in
            try Batches.insert(connection)
            say("held")
            while readLine() != nil {}
        }
    case ("limit", let given) where given.count == 1:
        let input = waitForGo()
        limitFiles(UInt(number(given[0])) << 10)
        try fill(store) { limitFiles(.max) }
        withExtendedLifetime(input) {}
    case ("fill", let given) where given.count == 1:
        try fill(store) { enlarge(arguments[0], kilobytes: 4 * number(given[0])) }
    case ("respond", []):
        let input = waitForGo()
        let responder = try Responder(try store.connect(on: .runLoop)) { refuse("\($0)") }
        withExtendedLifetime((responder, input)) { RunLoop.main.run() }
    case ("observe", []):
        let input = waitForGo()
        let token = try observe(store)
        withExtendedLifetime((token, input)) { RunLoop.main.run() }
    case ("freeze", let given) where given.count == 1:
        let input = waitForGo()
        let frozen = try (0..<number(given[0])).map { _ in try store.read { try $0.objects(Half.self).freeze() } }
        say("frozen \(frozen.count)")
        withExtendedLifetime(frozen) { input.join() }
    case ("fork", []):
        say("ready")
        guard readLine() != nil else { exit(0) }
        try useInChild(store)
    case ("threadless", []):
        say("ready")
        try useWithoutThreads(store)
    case ("filled", []):
        say("ready")
        try useWithoutDescriptors(store)
    case ("abandon", []):
        say("ready")
        try abandonWrites(store)
    case ("endings", let given) where given.count == 1:
        say("ready")
        try endInEveryState(store, count: number(given[0]))
    case ("drop", []):
        say("ready")
        try dropTokens(store)
    case ("misuse", let given) where given.count == 1:
        guard let misuse = Misuse(rawValue: given[0]) else { refuse("'\(given[0])' is no misuse; \(usage)") }
        say("ready")
        try misuse.commit(store)
    default: refuse(usage)
    }
} catch {
    refuse("\(error)")
}
