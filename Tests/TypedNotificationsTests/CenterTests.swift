import Dispatch
import Foundation
import StillingWellSync
import Synchronization
import Testing

@testable import TypedNotifications

@Suite("The typed notification centre") struct CenterTests {
    let center = TypedNotificationCenter()
    let harbour = Harbour()
    let book = Logbook()

    @Test("a subscriber is told of the types it subscribed to, in the order of posting")
    func types() {
        center.subscribe(book, to: TideTurned.self)
        center.subscribe(book, to: LampLit.self)
        center.post(TideTurned(heightMm: 1), by: harbour)
        center.post(ShipEntered(number: 2), by: harbour)
        center.post(LampLit(number: 3), by: Lighthouse())
        #expect(book.lines == ["tide 1", "lamp 3"])
    }

    @Test("a subscriber for one poster is not called for another, not even for one at the same address")
    func posters() {
        var mine: Harbour? = Harbour()
        center.subscribe(book, to: TideTurned.self, from: mine)
        center.post(TideTurned(heightMm: 1), by: mine!)
        center.post(TideTurned(heightMm: 2), by: harbour)
        mine = nil
        for height in 3..<100 { center.post(TideTurned(heightMm: height), by: Harbour()) }
        #expect(book.lines == ["tide 1"])
        #expect(center.subscriptionCount == 0)
    }

    @Test("subscribers are held weakly, and forgotten once they are gone")
    func weakly() {
        var short: Logbook? = Logbook()
        weak let seen = short
        center.subscribe(short!, to: TideTurned.self)
        center.subscribe(short!, to: TideTurned.self, on: .queue(DispatchQueue(label: "weak")))
        #expect(center.subscriptionCount == 2)
        short = nil
        #expect(seen == nil)
        center.post(TideTurned(), by: harbour)
        #expect(center.subscriptionCount == 0)
    }

    @Test("an observer that unsubscribes is not called again, also not for pending posts on a queue or a run loop")
    func silence() throws {
        let queue = DispatchQueue(label: "busy")
        let gate = DispatchSemaphore(value: 0)
        queue.async { gate.wait() }
        center.subscribe(book, to: TideTurned.self, on: .queue(queue))
        center.subscribe(book, to: ShipEntered.self)
        center.post(TideTurned(), by: harbour)
        center.unsubscribe(book, from: TideTurned.self)
        center.post(ShipEntered(), by: harbour)
        gate.signal()
        queue.sync {}
        #expect(book.lines == ["ship 0"])
        center.unsubscribe(book)
        center.post(ShipEntered(), by: harbour)
        #expect(book.lines == ["ship 0"])

        let (center, harbour, book) = (center, harbour, book)
        try onRunLoopThread {
            center.subscribe(book, to: LampLit.self, on: .runLoop)
            center.post(LampLit(), by: Lighthouse())
            center.unsubscribe(book)
            center.subscribe(book, to: TideTurned.self, on: .runLoop)
            center.post(TideTurned(heightMm: 7), by: harbour)
            turnRunLoop()
        }
        #expect(book.lines == ["ship 0", "tide 7"])
    }

    @Test("a handler may post, subscribe and unsubscribe; one that unsubscribes another is obeyed at once")
    func reentrancy() {
        let second = Logbook()
        let (center, harbour) = (center, harbour)
        book.whenTold = { [weak second] notification in
            guard notification is TideTurned, let second else { return }
            center.unsubscribe(second)
            center.subscribe(second, to: ShipEntered.self)
            center.post(ShipEntered(number: 1), by: harbour)
        }
        center.subscribe(book, to: TideTurned.self)
        center.subscribe(second, to: TideTurned.self)
        center.post(TideTurned(), by: harbour)
        #expect(book.lines == ["tide 0"])
        #expect(second.lines == ["ship 1"])
    }

    @Test("a block is told as long as its subscription is kept")
    func blocks() {
        let heights = Logbook()
        var subscription: NotificationSubscription? = center.subscribe(to: TideTurned.self) { heights.handle($0) }
        center.post(TideTurned(heightMm: 1), by: harbour)
        withExtendedLifetime(subscription) {}
        subscription = nil
        center.post(TideTurned(heightMm: 2), by: harbour)
        #expect(heights.lines == ["tide 1"])
        #expect(center.subscriptionCount == 0)
    }

    @Test("a run loop is called on its own thread, in order, if another thread posts")
    func runLoops() throws {
        let thread = RunLoopThread("tower")
        let (center, book) = (center, book)
        try thread.performAndWait { center.subscribe(book, to: TideTurned.self, on: .runLoop) }
        for height in 0..<100 { center.post(TideTurned(heightMm: height), by: harbour) }
        book.wait(count: 100)
        thread.stop()
        #expect(book.lines == (0..<100).map { "tide \($0)" })
        #expect(Set(book.toldOn) == ["tower"])
    }

    @Test("a handler that runs the loop again gets the waiting posts, in the order of posting")
    func nestedRunLoop() throws {
        let (center, harbour, book) = (center, harbour, book)
        let toldInside = try onRunLoopThread { () -> [String] in
            var toldInside: [String] = []
            nonisolated(unsafe) let inside = { (lines: [String]) in toldInside = lines }
            book.whenTold = { [weak book] notification in
                guard notification as? TideTurned == TideTurned(heightMm: 1), let book else { return }
                center.post(TideTurned(heightMm: 3), by: harbour)
                turnRunLoop()
                inside(book.lines)
            }
            center.subscribe(book, to: TideTurned.self, on: .runLoop)
            center.post(TideTurned(heightMm: 1), by: harbour)
            center.post(TideTurned(heightMm: 2), by: harbour)
            turnRunLoop()
            return toldInside
        }
        #expect(book.lines == ["tide 1", "tide 2", "tide 3"])
        #expect(toldInside == ["tide 1", "tide 2", "tide 3"])
    }

    @Test("an observer can ask for the poster, wherever it is called")
    func posterOfANotification() throws {
        let other = Harbour()
        let queue = DispatchQueue(label: "posters")
        let seen = Logbook()
        let (center, harbour) = (center, harbour)
        @Sendable func line(_ turned: TideTurned, _ isHome: Bool) -> TideTurned {
            TideTurned(heightMm: turned.heightMm + (isHome ? 1_000 : 2_000))
        }
        try onRunLoopThread {
            let here = center.subscribe(to: TideTurned.self) { turned, poster in
                seen.handle(line(turned, poster === harbour))
            }
            let there = center.subscribe(to: TideTurned.self, on: .queue(queue)) { turned, poster in
                seen.handle(line(turned, poster === harbour))
            }
            let loop = center.subscribe(to: TideTurned.self, from: other, on: .runLoop) { turned, poster in
                seen.handle(line(turned, poster === harbour))
            }
            center.post(TideTurned(heightMm: 1), by: harbour)
            queue.sync {}
            center.post(TideTurned(heightMm: 2), by: other)
            queue.sync {}
            turnRunLoop()
            withExtendedLifetime((here, there, loop)) {}
        }
        #expect(seen.lines == ["tide 1001", "tide 1001", "tide 2002", "tide 2002", "tide 2002"])
    }

    @Test("a subscriber that asks for posters tells them apart, and a poster is kept until that call")
    func posterSubscriber() {
        let watch = HarbourWatch(harbour)
        let queue = DispatchQueue(label: "watch")
        let gate = DispatchSemaphore(value: 0)
        center.subscribe(watch, to: TideTurned.self)
        center.subscribe(watch, to: LampLit.self, on: .queue(queue))
        center.post(TideTurned(heightMm: 1), by: harbour)
        center.post(TideTurned(heightMm: 2), by: Harbour())
        queue.async { gate.wait() }
        var lighthouse: Lighthouse? = Lighthouse()
        weak let seen = lighthouse
        center.post(LampLit(number: 3), by: lighthouse!)
        lighthouse = nil
        #expect(seen != nil)
        gate.signal()
        queue.sync {}
        #expect(watch.lines == ["tide 1 of ours", "tide 2 of somebody's", "lamp 3 of Lighthouse"])
        #expect(seen == nil)
        watch.handle(TideTurned(heightMm: 4))
        #expect(watch.lines.last == "tide 4 of somebody's")
        center.unsubscribe(watch)
        #expect(center.subscriptionCount == 0)
    }

    @Test("an observer that does not ask for the poster does not keep it")
    func posterNotKept() {
        let queue = DispatchQueue(label: "plain")
        let gate = DispatchSemaphore(value: 0)
        center.subscribe(book, to: LampLit.self, on: .queue(queue))
        queue.async { gate.wait() }
        var lighthouse: Lighthouse? = Lighthouse()
        weak let seen = lighthouse
        center.post(LampLit(number: 1), by: lighthouse!)
        lighthouse = nil
        #expect(seen == nil)
        gate.signal()
        queue.sync {}
        #expect(book.lines == ["lamp 1"])
    }

    @Test("a base class of notifications is a type of its own: the type at posting counts")
    func classes() {
        let told = Logbook()
        let weather = center.subscribe(to: Weather.self) { told.handle(ShipEntered(number: $0 is Storm ? 11 : 10)) }
        let storms = center.subscribe(to: Storm.self) { _ in told.handle(ShipEntered(number: 20)) }
        center.post(Weather(), by: harbour)
        #expect(told.lines == ["ship 10"])
        center.post(Storm(), by: harbour)
        #expect(told.lines == ["ship 10", "ship 20"])
        center.post(Storm() as Weather, by: harbour)
        #expect(told.lines == ["ship 10", "ship 20", "ship 11"])
        withExtendedLifetime((weather, storms)) {}
    }

    @Test(
        "many threads post, subscribe and end at once; no subscriber is called after its end, and no post of its thread is lost"
    )
    func manyThreads() {
        let center = center
        let all = Logbook()
        center.subscribe(all, to: ShipEntered.self)
        let late = Atomic<Int>(0)
        let threads = (0..<4).map { number in
            TracedThread("poster-\(number)") {
                let harbour = Harbour()
                for round in 0..<500 {
                    let isOver = Flag()
                    let subscription = center.subscribe(to: ShipEntered.self, from: harbour) { _ in
                        if isOver.isSet { late.add(1, ordering: .relaxed) }
                    }
                    center.post(ShipEntered(number: number * 1_000 + round), by: harbour)
                    subscription.cancel()
                    isOver.set()
                    center.post(TideTurned(heightMm: round), by: harbour)
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(late.load(ordering: .relaxed) == 0)
        for number in 0..<4 {
            let mine = all.lines.filter { $0.hasPrefix("ship ") }.map { Int($0.dropFirst(5))! }.filter {
                $0 / 1_000 == number
            }
            #expect(mine == (0..<500).map { number * 1_000 + $0 })
        }
        #expect(center.subscriptionCount == 1)
    }
}

private class Weather: TypedNotification, @unchecked Sendable { typealias Poster = Harbour }
private final class Storm: Weather, @unchecked Sendable {}

private final class HarbourWatch: PosterSubscriber, @unchecked Sendable {
    private let ours: Harbour
    private let lock = TracedMutex("watch")
    private var written: [String] = []
    var lines: [String] { lock.withLock { written } }

    init(_ ours: Harbour) { self.ours = ours }

    func handle(_ notification: any TypedNotification, from poster: NotificationPoster) {
        let line =
            switch notification {
            case let turned as TideTurned where poster.isIdentical(to: ours): "tide \(turned.heightMm) of ours"
            case let turned as TideTurned: "tide \(turned.heightMm) of somebody's"
            case let lit as LampLit:
                "lamp \(lit.number) of \(poster.object(as: Lighthouse.self).map { "\(type(of: $0))" } ?? "nobody")"
            default: "?"
            }
        lock.withLock { written.append(line) }
    }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

extension TypedNotificationCenter {
    /// Number of subscriptions.
    var subscriptionCount: Int { registrations.withLock { $0.values.reduce(0) { $0 + $1.count } } }
}
