import FetchedResults
import Foundation
import LiveStore
import Synchronization
import Testing
import TracedSync
import TypedNotifications

@Suite("Change logger and notification manager") struct ChangeLoggerTests {
    let boats: BoatStore
    let heard: Heard
    let subscription: NotificationSubscription

    init() throws {
        boats = try BoatStore()
        let heard = Heard()
        let path = boats.path
        self.heard = heard
        subscription = NotificationManager.shared.addListener { if $0.path == path { heard.add($0) } }
    }

    @Test("what a write logged is told as safe objects before it returns, one entry per object")
    func told() throws {
        let added = try boats.store.writeWithNotification { connection, logger -> [SafeObject<Boat>] in
            let (kept, short) = (Boat(1), Boat(2))
            for boat in [kept, short] { try connection.addWithNotification(boat) }
            try connection.changeWithNotification(kept) { $0.length = 7 }
            try connection.deleteWithNotification(short)
            return [SafeObject(kept)!]
        }
        #expect(heard.all.map { $0.added(Boat.self) } == [added])
        #expect(heard.all[0].changed(Boat.self).isEmpty && heard.all[0].deleted(Boat.self).isEmpty)
        try boats.store.read { connection in
            let length = try added[0].object(in: connection)?.length
            #expect(length == 7)
        }
        try boats.store.writeWithNotification { connection, logger in
            let first = try boat(1, connection)
            first.length = 8
            logger.didChange(first)
            logger.didChange(first)
        }
        #expect(heard.all.last?.changed(Boat.self) == added)
        try boats.store.writeWithNotification { connection, _ in
            try connection.deleteWithNotification(boat(1, connection))
        }
        #expect(heard.all.last?.deleted(Boat.self) == added)
        #expect(try boats.store.read { try added[0].object(in: $0) == nil })
    }

    @Test("outside of a write the conveniences make one; a write that fails tells nothing")
    func transactions() throws {
        let connection = try boats.store.connect(on: .scheduler(Turnstile()))
        let one = Boat(1)
        try connection.addWithNotification(one)
        try connection.changeWithNotification(one) { $0.length = 3 }
        #expect(heard.all.count == 2)
        #expect(throws: NoSuchBoat.self) {
            try connection.writeWithNotification { logger in
                one.length = 4
                logger.didChange(one)
                throw NoSuchBoat(number: 4)
            }
        }
        #expect(heard.all.count == 2)
        try connection.deleteWithNotification(one)
        #expect(heard.all.last?.deleted(Boat.self).count == 1)
    }

    @Test("in a write whose end no logger sees, logging is an error that says what to do")
    func notLogged() throws {
        let error = #expect(throws: FetchedResultsError.self) {
            try boats.store.write { try $0.addWithNotification(Boat(1)) }
        }
        #expect(error == .notLogged && "\(error!)".contains("writeWithNotification"))
        #expect(try boats.store.read { try $0.objects(Boat.self).count } == 0)
    }

    @Test("the legacy mode tells on the delegate's thread, with the committing one waiting")
    func legacy() throws {
        try boats.add(0..<6)
        let thread = RunLoopThread("interface")
        let (store, path) = (boats.store, boats.path)
        _ = path
        let shown = Shown()
        try thread.performAndWait {
            let connection = try store.connect(on: .runLoop)
            let controller = FetchedResultsController(
                connection, FetchRequest(Boat.self) { $0.sorted(by: \.length) }.sectioned(by: \.quay),
                delivery: .legacySynchronous(on: .thread(thread)))
            let table = Table()
            controller.delegate = table
            try controller.performFetch()
            table.reload(controller)
            shown.hold(controller, table)
        }
        try store.writeWithNotification { connection, _ in
            try connection.deleteWithNotification(boat(0, connection))
            try connection.deleteWithNotification(boat(3, connection))
            try connection.changeWithNotification(boat(1, connection)) { $0.name = "renamed" }
            try connection.addWithNotification(Boat(9, length: 1, quay: 4))
        }
        // Told already: nobody waits here.
        let (log, isRight, problems) = try thread.performAndWait { shown.look() }
        #expect(
            log == [
                "section delete 0", "section insert 2", "delete 0.1→", "delete 0.0→", "insert →2.0", "update 1.0→0.0",
            ])
        #expect(isRight && problems.isEmpty)
        // Where the delegate is nobody waits for another thread, and its own commits are told at once.
        try thread.performAndWait {
            try store.writeWithNotification {
                try $0.deleteWithNotification(boat(9, $0)); _ = $1
            }
        }
        #expect(try thread.performAndWait { shown.look() }.1)
        try thread.performAndWait { shown.end() }
        thread.stop()
    }

    @Test("the legacy mode says so where it cannot read, once, and tells anew after the next fetch")
    func legacyFails() throws {
        try boats.add(0..<2)
        let connection = try boats.store.connect(on: .scheduler(Turnstile()))
        let controller = FetchedResultsController(
            connection, FetchRequest(Boat.self) { $0.sorted(by: \.length) },
            delivery: .legacySynchronous(on: .queue(DispatchQueue(label: "nobody waits for it"))))
        let table = Table()
        controller.delegate = table
        try controller.performFetch()
        table.reload(controller)
        var held: [FrozenResults<Boat>] = []
        #expect(throws: StoreError.self) {
            while true { held.append(try boats.store.read { try $0.objects(Boat.self).freeze() }) }
        }
        for id in 2..<4 {
            try boats.store.writeWithNotification { connection, _ in try connection.addWithNotification(Boat(id)) }
        }
        #expect(table.problems.count == 1 && table.problems[0].contains("snapshots"), "\(table.problems)")
        #expect(table.log.isEmpty)
        held = []
        try controller.performFetch()
        try controller.refresh()
        table.reload(controller)
        try boats.store.writeWithNotification { connection, _ in
            try connection.addWithNotification(Boat(4, length: 999))
        }
        #expect(table.log == ["insert →0.4"])
        controller.invalidate()
    }
}

/// What listeners are told; any thread.
final class Heard: Sendable {
    private let changes = Mutex<[EntityChanges]>([])

    var all: [EntityChanges] { changes.withLock { $0 } }
    func add(_ change: EntityChanges) { changes.withLock { $0.append(change) } }
}

/// A controller and its table, used on their thread only.
private final class Shown: @unchecked Sendable {
    private var controller: FetchedResultsController<Boat>?
    private var table: Table?

    func hold(_ controller: FetchedResultsController<Boat>, _ table: Table) {
        (self.controller, self.table) = (controller, table)
    }

    func look() -> ([String], Bool, [String]) {
        let shown = controller!.sections.map { $0.objects.map { $0.objectID! } }
        return (table!.log, table!.sections == shown, table!.problems)
    }

    func end() {
        controller?.invalidate()
        (controller, table) = (nil, nil)
    }
}
