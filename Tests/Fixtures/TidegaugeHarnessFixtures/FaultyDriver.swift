// The model store with one fault, for tests that the harness detects it. A row's stamp identifies the commit that last
// wrote it; 0 is a row as loaded.
import Foundation
import StillingWellSync
import Synchronization
import TidegaugeDriver

/// Leaked memory. It is stored here because the compiler would otherwise remove the allocation.
private let leaked = Mutex<[UnsafeMutableRawPointer]>([])

public enum Fault: String, Sendable, CaseIterable {
    // Faults that the oracle must detect.
    case lostDelivery = "lost-delivery"
    case lostLast = "lost-last"
    case swappedDeliveries = "swapped-deliveries"
    case repeatedDelivery = "repeated-delivery"
    case shiftedIndex = "shifted-index"
    /// A change set of several commits gives the old indices of rows that changed in place.
    case staleModification = "stale-modification"
    case lostModification = "lost-modification"
    case extraModification = "extra-modification"
    case needlessMove = "needless-move"
    case wrongCount = "wrong-count"
    case versionBack = "version-back"
    case secondInitial = "second-initial"
    case noInitial = "no-initial"
    case tornSite = "torn-site"
    case calledAfterCancel = "called-after-cancel"
    /// One subscription in ten is still called after it was cancelled.
    case lateCall = "late-call"
    case staleCollection = "stale-collection"
    case wrongContents = "wrong-contents"
    case lostCommit = "lost-commit"
    /// A read shows the first of the audited rows with a stamp that is one less.
    case tornRead = "torn-read"
    /// Delivers whole values. From the sixth callback on, every second one claims the version after that of its rows.
    case versionAhead = "version-ahead"
    /// Inside a callback, one of the rows that it names has a stamp that is one less. After the callback it is right.
    case halfApplied = "half-applied"
    /// Outside of callbacks, a changed row shows a fixed wrong text.
    case staleText = "stale-text"
    /// Each row of a query, except the first, has the bytes of the row before it.
    case swappedBytes = "swapped-bytes"
    /// In a callback, a row's counterpart has a stamp that is one less.
    case tornCounterpart = "torn-counterpart"
    /// Every fifth answer has the value of the previous one.
    case staleAnswer = "stale-answer"
    /// The third answer is an error.
    case failedAnswer = "failed-answer"
    /// Declares that observers are called while a writer holds the write lock, but they are not.
    case readersWait = "readers-wait"
    // Faults that limits must detect.
    /// Leaks a kilobyte per commit.
    case leakedBytes = "leaked-bytes"
    /// Leaks a descriptor per delivery context.
    case leakedFile = "leaked-file"
    /// Its file grows with every commit.
    case growingFile = "growing-file"
    // Faults that end a trial, which the trial or its parent process must detect.
    case crash
    case killed
    case hang
    case stuckObserver = "stuck-observer"
    case commitError = "commit-error"
    /// Opening never returns, so the child itself cannot notice.
    case deaf
    case unavailable
    case failedSubscription = "failed-subscription"
}

/// A `ModelDriver` with a fault. The fault gives its name.
public struct FaultyDriver: StoreDriver {
    private let fault: Fault

    public init(_ fault: Fault) { self.fault = fault }

    public var name: String { fault.rawValue }
    public var facts: EngineFacts {
        var facts = ModelDriver().facts
        if fault == .readersWait { facts.readsBesideWriter = true }
        if fault == .versionAhead {
            facts.hasChangeSets = false
            facts.advancesTogether = false
        }
        return facts
    }

    public func open(_ configuration: StoreConfiguration) throws -> FaultyStore {
        if fault == .unavailable { throw DriverUnavailable("its library is not on this machine: install it") }
        if fault == .deaf { while true { sleep(1000) } }
        return FaultyStore(ModelStore(rows: configuration.rows), fault)
    }
}

public final class FaultyStore: SiteForgetting, WholeRowStore, AnsweringStore, @unchecked Sendable {
    private let store: ModelStore
    private let fault: Fault
    private let subscriptions = Atomic<Int>(0)
    let commits = Atomic<Int>(0)
    private let lock = TracedMutex("faulty store")
    private var sites: Set<ObjectIdentifier> = []

    init(_ store: ModelStore, _ fault: Fault) {
        self.store = store
        self.fault = fault
    }

    public func load(count: Int, item: (Int) -> Item) { store.load(count: count, item: item) }
    public func makeWriter() -> any StoreWriter { FaultyWriter(self, store.makeWriter(), fault) }
    public func forget(_ site: DeliverySite) {
        store.forget(site)
        lock.withLock { _ = sites.remove(site.identity) }
    }
    public func fileBytes() -> Int { fault == .growingFile ? commits.load(ordering: .relaxed) * 26 << 10 : 0 }
    public func close() { store.close() }

    public func contents(of query: Query) -> [Item] {
        var items = store.contents(of: query)
        if fault == .wrongContents, query.scores != nil, !items.isEmpty { items[0].stamp += 1 }
        return items
    }

    public func forEachRow(of query: Query, _ body: (WholeRow) -> Void) {
        var last: WholeRow?
        store.forEachRow(of: query) { row in
            var shown = row
            if fault == .swappedBytes, let last { shown.payload = last.payload }
            last = row
            body(shown)
        }
    }

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws
        -> any DriverSubscription
    {
        if fault == .leakedFile, lock.withLock({ sites.insert(site.identity).inserted }) {
            _ = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        }
        let number = subscriptions.add(1, ordering: .relaxed).newValue
        // Only some subscriptions are faulty. A torn delivery shows only in one that is called second.
        let isFaulty =
            switch fault {
            case .tornRead: query.group == -1
            case .lateCall: number % 10 == 0
            case .tornSite: number == 2
            default: number == 1
            }
        let faulty = FaultySink(sink, isFaulty ? fault : nil)
        let inner = store.subscribe(to: query, at: site, sink: faulty)
        return FaultySubscription(inner, faulty, isFaulty ? fault : nil)
    }
}

final class FaultyWriter: StoreWriter {
    private let store: FaultyStore
    private let writer: any StoreWriter
    private let fault: Fault

    init(_ store: FaultyStore, _ writer: any StoreWriter, _ fault: Fault) {
        self.store = store
        self.writer = writer
        self.fault = fault
    }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        let number = store.commits.add(1, ordering: .relaxed).newValue
        if fault == .lostCommit, number >= 20 {
            // Acknowledged, but its rows are not stored.
            return try writer.commit(UnsafeBufferPointer(rebasing: changes[0..<0]), locked: locked)
        }
        if fault == .leakedBytes { leaked.withLock { $0.append(memset(malloc(1_024), 1, 1_024)) } }
        if number == 20 { try misbehave() }
        return try writer.commit(changes, locked: locked)
    }

    private func misbehave() throws {
        switch fault {
        case .crash: fatalError("the fixture traps on purpose")
        case .killed: kill(getpid(), SIGKILL)
        case .hang: while true { sleep(1000) }
        case .commitError: throw FixtureError(description: "the fixture refuses its twentieth commit")
        default: break
        }
    }
}

public struct FixtureError: Error, CustomStringConvertible {
    public var description: String
}
