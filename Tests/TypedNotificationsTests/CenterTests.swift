import Dispatch
import Foundation
import Synchronization
import Testing
import TracedSync

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

    @Test("a subscriber for one poster hears nothing of another, not even of one that lies where the first lay")
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

    @Test("who unsubscribes is not called any more, also for what waits on a queue or a run loop")
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

    @Test("a run loop is told on its own thread, in order, whoever posts")
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

    @Test("many threads post, subscribe and end at once; nobody is called after its end, nothing of one thread is lost")
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

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

extension TypedNotificationCenter {
    /// How many subscriptions are kept.
    var subscriptionCount: Int { lock.withLock { subscriptions.values.reduce(0) { $0 + $1.count } } }
}
