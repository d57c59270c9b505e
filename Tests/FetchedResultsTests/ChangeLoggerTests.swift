import FetchedResults
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSync
import Synchronization
import Testing
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

    @Test("logged changes are told as safe objects before the write returns, one entry per object")
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
        let connection = try boats.store.connect(on: .scheduler(ManualScheduler()))
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

    @Test("only actual changes are told: no addition of an existing object, no deletion of a deleted one")
    func nothingDone() throws {
        let connection = try boats.store.connect(on: .scheduler(ManualScheduler()))
        let (one, two) = (Boat(1), Boat(2))
        try connection.writeWithNotification { logger in
            try connection.add(one)
            try connection.add(two)
        }
        #expect(heard.all.isEmpty)
        try connection.addWithNotification(one)
        try connection.writeWithNotification { logger in
            try connection.add(one)
            logger.didAdd(one)
        }
        #expect(heard.all.isEmpty, "nothing was added")
        try boats.store.write { try $0.delete(boat(2, $0)) }
        try connection.deleteWithNotification(two)
        try connection.writeWithNotification { logger in
            logger.didChange(two)
            logger.willDelete(two)
            try connection.delete(two)
        }
        #expect(heard.all.isEmpty, "it was gone")
        try boats.store.writeWithNotification { writing, logger in
            let boat = try boat(1, writing)
            logger.didChange(boat)
            boat.length = 3
            logger.willDelete(boat)
        }
        #expect(heard.all.map { $0.changed(Boat.self).count } == [1])
        #expect(heard.all.allSatisfy { $0.deleted(Boat.self).isEmpty })
    }

    @Test("a failed deletion whose error is caught is not reported; a change that was made before a caught error is")
    func caught() throws {
        let connection = try boats.store.connect(on: .scheduler(ManualScheduler()))
        let one = Boat(1)
        try connection.addWithNotification(one)
        let frozen = try one.freeze().object
        try connection.writeWithNotification { _ in
            #expect(throws: StoreError.frozen) { try connection.deleteWithNotification(frozen) }
        }
        #expect(heard.all.count == 1)
        try connection.writeWithNotification { _ in
            try? connection.changeWithNotification(one) { _ in throw NoSuchBoat(number: 0) }
        }
        #expect(heard.all.count == 1)
        try connection.writeWithNotification { _ in
            try? connection.changeWithNotification(one) { boat in
                boat.length = 9
                throw NoSuchBoat(number: 1)
            }
        }
        #expect(heard.all.count == 2 && heard.all[1].changed(Boat.self).map(\.id) == [one.objectID!])
    }

    @Test("a block that ends the write itself tells the committed changes and no cancelled ones")
    func endedInside() throws {
        let connection = try boats.store.connect(on: .scheduler(ManualScheduler()))
        try connection.writeWithNotification { _ in
            try connection.addWithNotification(Boat(1))
            try connection.cancelWrite()
        }
        #expect(heard.all.isEmpty)
        #expect(throws: NoSuchBoat.self) {
            try connection.writeWithNotification { _ in
                try connection.addWithNotification(Boat(2))
                try connection.commitWrite()
                throw NoSuchBoat(number: 2)
            }
        }
        #expect(heard.all.map { $0.added(Boat.self).count } == [1])
    }

    @Test("a safe object of another store is an error that names both stores; one of a deleted object gives nil")
    func otherStore() throws {
        let other = try BoatStore()
        try boats.add(0..<1)
        try other.add(5..<6)
        let safe = try boats.store.read { try SafeObject(boat(0, $0))! }
        let error = #expect(throws: StoreError.self) {
            try other.store.read { try safe.object(in: $0) != nil }
        }
        let words = error.map { "\($0)" } ?? ""
        let ends = [boats, other].map { URL(fileURLWithPath: $0.path).lastPathComponent }
        #expect(ends.allSatisfy(words.contains), "\(words)")
        #expect(try boats.store.read { try safe.object(in: $0)?.number } == 0)
        // An object whose insertion the connection has not received yet does not count as deleted.
        let early = try boats.store.connect(on: .scheduler(ManualScheduler()))
        let late = try boats.store.write { connection -> SafeObject<Boat> in
            let boat = Boat(7)
            try connection.add(boat)
            return SafeObject(boat)!
        }
        #expect(try late.object(in: early)?.number == 7)
        try boats.store.write { try $0.delete(boat(7, $0)) }
        #expect(try boats.store.read { try late.object(in: $0) == nil })
    }

    @Test("an observer of a class is told of its objects only, and not of a commit without one")
    func oneClass() throws {
        let (ofBuoys, path) = (Heard(), boats.path)
        let subscription = NotificationManager.shared.addListener(to: Buoy.self) {
            if $0.path == path { ofBuoys.add($0) }
        }
        try boats.store.writeWithNotification { connection, _ in try connection.addWithNotification(Boat(1)) }
        #expect(heard.all.count == 1 && ofBuoys.all.isEmpty)
        try boats.store.writeWithNotification { connection, _ in
            try connection.addWithNotification(Boat(2))
            try connection.addWithNotification(Buoy())
        }
        #expect(heard.all.count == 2)
        #expect(ofBuoys.all.map { $0.added(Buoy.self).count } == [1])
        #expect(ofBuoys.all.allSatisfy { $0.added(Boat.self).isEmpty })
        subscription.cancel()
    }

    @Test("an object of another store cannot be logged: the write fails and names both")
    func logsOtherStore() throws {
        let other = try BoatStore()
        try other.add(0..<1)
        try boats.add(0..<1)
        let foreign = try boat(0, other.store.connect(on: .scheduler(ManualScheduler())))
        let error = #expect(throws: StoreError.self) {
            try boats.store.writeWithNotification { connection, logger in
                try boat(0, connection).length = 5
                logger.didChange(foreign)
            }
        }
        let words = error.map { "\($0)" } ?? ""
        let ends = [boats, other].map { URL(fileURLWithPath: $0.path).lastPathComponent }
        #expect(ends.allSatisfy(words.contains), "\(words)")
        #expect(heard.all.isEmpty)
        #expect(try boats.store.read { try boat(0, $0).length } == 0)
    }

    @Test("logging in a write that no logger ends is an error with a remedy")
    func notLogged() throws {
        let error = #expect(throws: FetchedResultsError.self) {
            try boats.store.write { try $0.addWithNotification(Boat(1)) }
        }
        #expect(error == .notLogged && "\(error!)".contains("writeWithNotification"))
        #expect(try boats.store.read { try $0.objects(Boat.self).count } == 0)
    }
}

/// The changes that listeners received. May be used on any thread.
final class Heard: Sendable {
    private let changes = Mutex<[EntityChanges]>([])

    var all: [EntityChanges] { changes.withLock { $0 } }
    func add(_ change: EntityChanges) { changes.withLock { $0.append(change) } }
}
