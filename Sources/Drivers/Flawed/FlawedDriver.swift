// A store with one deliberate flaw, for scenarios that must detect it. It keeps no rows; versions, locks and
// callbacks suffice for hangs.
import TidegaugeDriver

/// The drivers of this module. `drivers.txt` names them.
public let allDrivers: [any StoreDriver] = [LegacyDriver()] + FlawedDriver.all

/// Opens stores with one flaw that makes them hang. The driver's name is `flawed-` and the flaw.
public struct FlawedDriver: StoreDriver {
    private let flaw: Flaw

    public init(_ flaw: Flaw) { self.flaw = flaw }

    /// One driver for each flaw.
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

/// The flaw of a flawed store.
public enum Flaw: String, Sendable, CaseIterable {
    /// Observers are called on the committing thread, or initially on the subscribing one, under the write lock.
    case callbackUnderLock = "callback-under-lock"
    /// A commit holds the write lock until every observer has been called.
    case waitsForObservers = "waits-for-observers"
    /// A refresh waits until the delivery context has run a block.
    case refreshWaitsForTurn = "refresh-waits-for-turn"
    /// Cancelling a subscription waits for its running callback.
    case cancelWaits = "cancel-waits"
    /// Observers are called for commits under the lock of their registry.
    case calledUnderRegistry = "called-under-registry"
    /// The store has a pool of two readers. A read inside a read takes another one.
    case readerPool = "reader-pool"
    /// An asynchronous write takes the write lock immediately and releases it later on the delivery context.
    case asyncWriteHeld = "async-write-held"
    /// A commit takes the registry lock under the write lock, and a subscription takes them in the opposite order.
    case lockOrder = "lock-order"
    /// Like `lockOrder`, with system mutexes that are not traced.
    case foreignLocks = "foreign-locks"
    /// A refresh waits for as many answers as there were subscriptions; a dropped subscription never answers.
    case answersCounted = "answers-counted"
    /// A refresh waits for answers; the answering thread does not answer if the store has been closed.
    case closeForgetsRefresh = "close-forgets-refresh"
    /// The only worker waits for the delivery context, and the context waits for a worker.
    case workersStarve = "workers-starve"
    /// A mailbox has room for one delivery; the writer waits for room while it holds the write lock.
    case boundedMailbox = "bounded-mailbox"
    /// Observers on a queue are called by `sync`, even from that queue.
    case syncOnOwnQueue = "sync-on-own-queue"
}
