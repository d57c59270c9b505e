// Opening a connection: the delivery contexts it can live in, and the checks that deliveries can reach the caller.
import Foundation
import StillingWellSync

extension Store {
    /// A delivery context. The connection is opened and used there, and its observers are called there.
    public enum Site {
        /// The main queue. The main actor, the main run loop or `dispatchMain()` may serve it.
        case main
        /// The current thread's run loop. `RunLoopThread` makes a thread that has one.
        case runLoop
        /// A serial queue. Call `connect` inside one of its blocks.
        case queue(DispatchQueue)
        /// An actor. Call `connect` from code isolated to it.
        case actor(any Actor)
        /// A serial executor. Call `connect` from one of its jobs.
        case executor(any SerialExecutor)
        /// A custom scheduler.
        case scheduler(any Scheduler)
    }

    /// Opens a connection at the newest version, for use where it is opened.
    ///
    /// A call from elsewhere throws. If the delivery context is an actor or an executor, it stops the program. With a
    /// custom scheduler the call is not checked; the first use of the connection is.
    /// - Throws: `noRunLoop` if nothing could be delivered; `concurrentQueue`; `connectedElsewhere` if the caller is
    ///   not on the queue; `noDescriptors` if no run loop can be created; `tooManySnapshots`; `noThread`; `closed`;
    ///   `openedBeforeFork`; `storage` if the file cannot be read.
    public func connect(on site: Site) throws -> Connection {
        try core.checkOpen()
        return try LiveConnection(self, on: try site.scheduler())
    }
}

extension Store.Site {
    /// Returns the scheduler of this delivery context after checking that the caller runs there. A custom scheduler is
    /// not checked.
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
            // A queue of unknown kind may be concurrent. libdispatch then stops the program, unless this block is a
            // barrier.
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
        scheduler._checkIsCurrent("\(error)")
        return scheduler
    }
}
