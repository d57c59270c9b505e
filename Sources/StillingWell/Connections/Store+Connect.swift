// Opening a connection: the places it can live at, and what is wrong with a place where nothing can be delivered.
import Foundation
import StillingWellSync

extension Store {
    /// Where a connection lives: it is opened there, used there, and its observers are called there.
    public enum Site {
        /// The main queue, and with it the main actor, the main run loop and `dispatchMain()`, whichever runs.
        case main
        /// The current thread's run loop. `RunLoopThread` makes a thread that has one.
        case runLoop
        /// A serial queue; `connect` is called inside a block of it.
        case queue(DispatchQueue)
        /// An actor; `connect` is called by code that is isolated to it.
        case actor(any Actor)
        /// A serial executor; `connect` is called by a job of it.
        case executor(any SerialExecutor)
        /// One of the program's own.
        case scheduler(any Scheduler)
    }

    /// Opens a connection at the newest version, to be used where it is opened.
    ///
    /// A call from elsewhere throws; where the site is an actor or an executor it stops the program.
    /// - Throws: `noRunLoop`, `concurrentQueue` and `connectedElsewhere` where nothing could be delivered,
    ///   `noDescriptors` where no run loop can be had, `tooManySnapshots`, `closed`.
    public func connect(on site: Site) throws -> Connection {
        try core.checkOpen()
        return try LiveConnection(self, on: try site.scheduler())
    }
}

extension Store.Site {
    /// The scheduler of this site, once it is known that the caller is there.
    fileprivate func scheduler() throws(StoreError) -> any Scheduler {
        switch self {
        case .main: return try here(QueueScheduler(.main))
        case .runLoop:
            if !RunLoopRoom.isThere { throw .noDescriptors(thread: CallerPlace.thread) }
            let place = CallerPlace.current
            if place.isWithoutRunLoop { throw .noRunLoop(place: place.name) }
            return RunLoopScheduler()
        case .queue(let queue):
            if QueueKind.isConcurrent(queue) { throw .concurrentQueue(label: queue.label) }
            let scheduler = try here(QueueScheduler(queue))
            // Where the kind of a queue cannot be seen, libdispatch stops the program rather than let it race.
            dispatchPrecondition(condition: .onQueueAsBarrier(queue))
            return scheduler
        case .actor(let actor): return here(ActorScheduler(actor))
        case .executor(let executor): return here(ActorScheduler(executor: executor))
        case .scheduler(let scheduler):
            if scheduler is RunLoopScheduler, !RunLoopRoom.isThere { throw .noDescriptors(thread: CallerPlace.thread) }
            return scheduler
        }
    }

    private func here(_ scheduler: QueueScheduler) throws(StoreError) -> QueueScheduler {
        if scheduler.isCurrent { return scheduler }
        throw .connectedElsewhere(site: scheduler.name, caller: CallerPlace.current.name)
    }

    private func here(_ scheduler: ActorScheduler) -> ActorScheduler {
        let error = StoreError.connectedElsewhere(site: scheduler.name, caller: CallerPlace.current.name)
        scheduler.checkIsCurrent("\(error)")
        return scheduler
    }
}
