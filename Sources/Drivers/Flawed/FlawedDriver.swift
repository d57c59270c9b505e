// A store with one flaw, for scenarios that must find it. It keeps no rows: versions, locks and callbacks are what hangs
// are made of.
import TidegaugeDriver

/// Opens stores that hang in one certain way; named `flawed-` and the flaw.
public struct FlawedDriver: StoreDriver {
    private let flaw: Flaw

    public init(_ flaw: Flaw) { self.flaw = flaw }

    /// One of each.
    public static let all = Flaw.allCases.map(FlawedDriver.init)

    public var name: String { "flawed-\(flaw.rawValue)" }

    public var facts: EngineFacts {
        EngineFacts(durabilities: Set(DurabilityLevel.allCases), persists: false, hasChangeSets: false) {
            $0.keyKinds = Set(KeyKind.allCases)
            $0.advancesTogether = false
            $0.remarks = ["hangs on purpose, to show that it is found"]
        }
    }

    public func open(_ configuration: StoreConfiguration) -> FlawedStore { FlawedStore(flaw) }
}

/// What is wrong with a flawed store.
public enum Flaw: String, Sendable, CaseIterable {
    /// Observers are called on the committing thread, under the write lock; the initial call too.
    case callbackUnderLock = "callback-under-lock"
    /// A commit holds the write lock until every observer has been called.
    case waitsForObservers = "waits-for-observers"
    /// A refresh waits for the site's next turn.
    case refreshWaitsForTurn = "refresh-waits-for-turn"
    /// Ending a subscription waits for its call that runs.
    case cancelWaits = "cancel-waits"
    /// Observers are called under the lock of their registry.
    case calledUnderRegistry = "called-under-registry"
    /// Two readers, and no more; a read inside a read takes another one.
    case readerPool = "reader-pool"
    /// A write that nobody waits for takes the write lock at once, and gives it back on the site, some time.
    case asyncWriteHeld = "async-write-held"
    /// A commit takes the registry under the write lock, subscribing the write lock under the registry.
    case lockOrder = "lock-order"
    /// The same with mutexes of the system's, which nobody traces.
    case foreignLocks = "foreign-locks"
    /// A refresh waits for as many answers as there were subscriptions; one that is dropped never answers.
    case answersCounted = "answers-counted"
    /// A refresh waits for answers; who answers looks first whether the store is open, and says nothing if it is not.
    case closeForgetsRefresh = "close-forgets-refresh"
    /// The only worker waits for the site, on which somebody waits for a worker.
    case workersStarve = "workers-starve"
    /// A mailbox takes one delivery; the writer waits for room with the write lock held.
    case boundedMailbox = "bounded-mailbox"
    /// Observers on a queue are called by `sync`, from that queue as well.
    case syncOnOwnQueue = "sync-on-own-queue"
}
