import CoreFoundation
import Foundation
import StillingWellSeededRandom
import StillingWellSync
import Testing

@testable import TypedNotifications

@Suite("The coalescing notification queue") struct QueueTests {
    @Test("waiting posts come in order in the next pass of the loop, and those for an idle loop after them")
    func timings() throws {
        let lines = try onRunLoopThread { () -> [[String]] in
            let desk = Desk()
            var seen: [[String]] = []
            desk.enqueueShip(1, .whenIdle)
            desk.enqueueShip(2, .asSoonAsPossible)
            desk.enqueueShip(3, .now)
            desk.enqueueShip(4, .whenIdle)
            desk.enqueueShip(5, .asSoonAsPossible)
            seen.append(desk.book.lines)
            turnRunLoop()
            seen.append(desk.book.lines)
            return seen
        }
        #expect(lines == [["ship 3"], ["ship 3", "ship 2", "ship 5", "ship 1", "ship 4"]])
    }

    @Test("a notification waits for a mode of its own, whatever else the loop runs in")
    func modes() throws {
        let lines = try onRunLoopThread { () -> [[String]] in
            let desk = Desk()
            let tracking = RunLoop.Mode("tracking")
            desk.queue.enqueue(ShipEntered(number: 1), by: desk.harbour, .asSoonAsPossible, modes: [tracking])
            desk.queue.enqueue(LampLit(number: 2), by: desk.lighthouse, .whenIdle, modes: [tracking, .default])
            desk.queue.enqueue(TideTurned(heightMm: 3), by: desk.harbour, .whenIdle, modes: [.common])
            var seen: [[String]] = []
            turnRunLoop()
            seen.append(desk.book.lines.sorted())
            turnRunLoop(tracking)
            seen.append(desk.book.lines)
            // Inside the default mode, `now` for another mode waits for that mode.
            CFRunLoopPerformBlock(CFRunLoopGetCurrent(), kCFRunLoopDefaultMode) {
                desk.queue.enqueue(ShipEntered(number: 4), by: desk.harbour, .now, modes: [tracking])
                desk.queue.enqueue(ShipEntered(number: 5), by: desk.harbour, .now, coalescing: [], modes: [.common])
            }
            turnRunLoop()
            seen.append(desk.book.lines.suffix(1))
            turnRunLoop(tracking)
            seen.append(desk.book.lines.suffix(1))
            return seen
        }
        #expect(lines[0] == ["lamp 2", "tide 3"])
        #expect(lines[1].last == "ship 1")
        #expect(lines[2] == ["ship 5"])
        #expect(lines[3] == ["ship 4"])
    }

    @Test("a post that a handler enqueues waits for the next pass, and is made in a loop that would sleep otherwise")
    func handlersEnqueue() throws {
        let thread = RunLoopThread("desk")
        let book = Logbook()
        try thread.performAndWait {
            let queue = TypedNotificationQueue.current
            #expect(queue === TypedNotificationQueue.current)
            let harbour = Harbour()
            TypedNotificationCenter.default.subscribe(book, to: BoatCounted.self)
            book.whenTold = { notification in
                guard let boat = notification as? BoatCounted, boat.number < 50 else { return }
                let timing: NotificationTiming = boat.number % 2 == 0 ? .whenIdle : .asSoonAsPossible
                TypedNotificationQueue.current.enqueue(BoatCounted(number: boat.number + 1), by: harbour, timing)
            }
            queue.enqueue(BoatCounted(number: 0), by: harbour, .whenIdle)
        }
        book.wait(count: 51)
        thread.stop()
        TypedNotificationCenter.default.unsubscribe(book)
    }

    @Test("a handler that runs the loop again has what waits posted meanwhile, in order", arguments: [false, true])
    func nestedRunLoop(_ isIdle: Bool) throws {
        let timing: NotificationTiming = isIdle ? .whenIdle : .asSoonAsPossible
        let (toldInside, told) = try onRunLoopThread { () -> ([String], [String]) in
            let desk = Desk()
            var toldInside: [String] = []
            nonisolated(unsafe) let inside = { (lines: [String]) in toldInside = lines }
            nonisolated(unsafe) weak let shared = desk
            desk.book.whenTold = { notification in
                guard notification as? ShipEntered == ShipEntered(number: 1), let desk = shared else { return }
                turnRunLoop()
                inside(desk.book.lines)
                // The inner loop may have consumed the wake-up for the outer loop's time limit.
                CFRunLoopWakeUp(CFRunLoopGetCurrent())
            }
            for number in 1...3 { desk.enqueueShip(number, timing) }
            turnRunLoop()
            return (toldInside, desk.book.lines)
        }
        #expect(toldInside == ["ship 1", "ship 2", "ship 3"])
        #expect(told == ["ship 1", "ship 2", "ship 3"])
    }

    @Test("a released queue posts nothing, and releases posters and notifications")
    func end() throws {
        let isGone = try onRunLoopThread { () -> Bool in
            var desk: Desk? = Desk()
            weak let harbour = desk?.harbour
            desk!.enqueueShip(1, .asSoonAsPossible)
            desk!.enqueueShip(2, .whenIdle)
            let book = desk!.book
            desk = nil
            turnRunLoop()
            return harbour == nil && book.lines.isEmpty
        }
        #expect(isGone)
    }

    @Test("random histories agree with an array that is searched through", arguments: seeds(200))
    func histories(_ seed: UInt64) throws {
        let (found, expected) = try onRunLoopThread { () -> ([String], [String]) in
            var random = SeededRandom(seed: seed)
            let center = TypedNotificationCenter()
            let book = Logbook()
            for type in [TideTurned.self, ShipEntered.self] as [any TypedNotification.Type] {
                subscribe(book, type, center)
            }
            let queue = TypedNotificationQueue(center)
            let harbours = (0..<3).map { _ in Harbour() }
            var waiting: [ModelEntry] = []
            var told: [String] = []
            for number in 0..<random.below(120) {
                let poster = random.below(3)
                let isTide = random.below(2) == 0
                switch random.below(10) {
                case 0:
                    turnRunLoop()
                    for timing in [NotificationTiming.asSoonAsPossible, .whenIdle] {
                        told += waiting.filter { $0.timing == timing }.map(\.line)
                    }
                    waiting = []
                case 1:
                    let removed = waiting.filter { $0.isTide == isTide && $0.poster == poster }.count
                    waiting.removeAll { $0.isTide == isTide && $0.poster == poster }
                    let count =
                        isTide
                        ? queue.dequeue(TideTurned.self, by: harbours[poster])
                        : queue.dequeue(ShipEntered.self, by: harbours[poster])
                    if count != removed { told.append("dequeued \(removed) not \(count)") }
                case 2:
                    waiting.removeAll { $0.poster == poster }
                    queue.dequeue(by: harbours[poster])
                case 3 where isTide:
                    waiting.removeAll { $0.isTide }
                    queue.dequeue(TideTurned.self)
                default:
                    let coalescing = NotificationCoalescing(rawValue: random.below(4))
                    let timing = [NotificationTiming.asSoonAsPossible, .whenIdle, .now][random.below(9) / 4]
                    waiting.removeAll { entry in
                        if coalescing.isEmpty { return false }
                        let sameType = !coalescing.contains(.onType) || entry.isTide == isTide
                        return sameType && (!coalescing.contains(.onPoster) || entry.poster == poster)
                    }
                    let line = isTide ? "tide \(number)" : "ship \(number)"
                    if isTide {
                        queue.enqueue(
                            TideTurned(heightMm: number), by: harbours[poster], timing, coalescing: coalescing)
                    } else {
                        queue.enqueue(
                            ShipEntered(number: number), by: harbours[poster], timing, coalescing: coalescing)
                    }
                    // Outside of the loop, `now` posts at once.
                    if timing == .now {
                        told.append(line)
                    } else {
                        waiting.append(.init(line: line, isTide: isTide, poster: poster, timing: timing))
                    }
                }
                if queue.count != waiting.count { told.append("\(queue.count) wait, not \(waiting.count)") }
            }
            return (book.lines, told)
        }
        #expect(found == expected, "TIDEGAUGE_SEED=\(seed)")
    }
}

private struct ModelEntry {
    let line: String
    let isTide: Bool
    let poster: Int
    let timing: NotificationTiming
}

private func subscribe<Notification: TypedNotification>(
    _ book: Logbook, _ type: Notification.Type, _ center: TypedNotificationCenter
) {
    center.subscribe(book, to: type)
}

/// A notification on the default center, of a type that no other test posts.
struct BoatCounted: TypedNotification {
    typealias Poster = Harbour
    let number: Int
}

/// A queue on the current thread, with a subscriber to all its notifications.
private final class Desk {
    let center = TypedNotificationCenter()
    let queue: TypedNotificationQueue
    let book = Logbook()
    let harbour = Harbour()
    let lighthouse = Lighthouse()

    init() {
        queue = TypedNotificationQueue(center)
        center.subscribe(book, to: ShipEntered.self)
        center.subscribe(book, to: TideTurned.self)
        center.subscribe(book, to: LampLit.self)
    }

    func enqueueShip(_ number: Int, _ timing: NotificationTiming) {
        queue.enqueue(ShipEntered(number: number), by: harbour, timing, coalescing: [])
    }
}
