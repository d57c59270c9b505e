// A store of boats, and a table that applies the delegate's callbacks like a user interface.
import FetchedResults
import Foundation
import StillingWell
import StillingWellFixtures
import Synchronization

final class Boat: StoredObject {
    @Stored(.primaryKey) var number = 0
    @Stored var name = ""
    @Stored var length = 0
    @Stored var quay: Int? = nil
    @Stored var berth: String? = nil
    @Stored var hull = Data()
    @Stored var built = Date(timeIntervalSinceReferenceDate: 0)

    convenience init(_ number: Int, length: Int = 0, quay: Int? = nil) {
        self.init()
        self.number = number
        name = "boat \(number)"
        self.length = length
        self.quay = quay
    }
}

final class Buoy: StoredObject {
    @Stored var colour = "red"
}

final class BoatStore {
    let store: Store
    let path: String

    init(durability: Durability = .memory, path: String? = nil) throws {
        self.path = path ?? NSTemporaryDirectory() + "fetched-results-\(UUID().uuidString)"
        store = try Store(.init(path: self.path, models: [Boat.self, Buoy.self], durability: durability))
    }

    deinit {
        store.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    func add(_ numbers: Range<Int>) throws {
        try store.write { for number in numbers { try $0.add(Boat(number, length: number, quay: number % 3)) } }
    }
}

func boat(_ number: Int, _ connection: Connection) throws -> Boat {
    guard let boat = try connection.object(Boat.self, forPrimaryKey: number) else { throw NoSuchBoat(number: number) }
    return boat
}

struct NoSuchBoat: Error { let number: Int }

/// A table like that of a user interface: it has the rows of its first read and all changes since.
final class Table: FetchedResultsControllerDelegate {
    typealias Object = Boat

    private(set) var sections: [[ObjectID]] = []
    private(set) var log: [String] = []
    /// Inserted or deleted sections: name, size, and the numbers of the objects that still exist.
    private(set) var sectionLog: [String] = []
    private(set) var problems: [String] = []
    private var batch: Batch?
    var whenChanged: (() -> Void)?
    /// Called at the end of every callback except for a failure.
    var whenCalled: ((Callback, FetchedResultsController<Boat>) -> Void)?
    private var hasRead = false

    enum Callback: Hashable, CaseIterable {
        case will, section, object, did
    }

    private struct Batch {
        /// Rows that the controller shows from the first change of the batch on.
        var shown: [[ObjectID]]?
        var deletedSections: [Int] = []
        var insertedSections: [Int] = []
        var deleted: [RowPath] = []
        var inserted: [(RowPath, ObjectID)] = []
        var updated: [(RowPath, ObjectID)] = []
    }

    /// Reads everything, like a table that is shown for the first time.
    func reload(_ controller: FetchedResultsController<Boat>) {
        sections = Self.shown(controller)
        hasRead = true
    }

    static func shown(_ controller: FetchedResultsController<Boat>) -> [[ObjectID]] {
        controller.sections.map { $0.objects.map { $0.objectID! } }
    }

    /// Discards a batch whose delivery was stopped.
    func abandonBatch() { batch = nil }

    func controllerWillChangeContent(_ controller: FetchedResultsController<Boat>) {
        if batch != nil { problems.append("will, twice") }
        batch = Batch()
        if hasRead, Self.shown(controller) != sections { problems.append("will: the old content is not shown") }
        whenCalled?(.will, controller)
    }

    /// Checks that the controller shows the same rows in all callbacks from the first change on.
    private func checkShown(_ controller: FetchedResultsController<Boat>, _ callback: Callback) {
        guard batch != nil else { return problems.append("\(callback), without will") }
        let shown = Self.shown(controller)
        if let known = batch?.shown, known != shown { problems.append("\(callback): what is shown has changed") }
        batch?.shown = shown
    }

    func controller(
        _ controller: FetchedResultsController<Boat>, didChange section: FetchedSection<Boat>,
        atSectionIndex index: Int, for type: FetchedChangeType
    ) {
        log.append("section \(type) \(index)")
        let there = section.objects.filter { !$0.isInvalidated }.map(\.number)
        sectionLog.append("\(section.name ?? "nil"): \(section.objectCount), \(there)")
        if hasRead, type == .delete, section.objectCount != sections[index].count {
            problems.append("a deleted section is told as one of \(section.objectCount) objects")
        }
        if type == .insert, section.name != controller.sections[index].name {
            problems.append("section \(index) is told by another name")
        }
        checkShown(controller, .section)
        defer { whenCalled?(.section, controller) }
        if type == .delete { batch?.deletedSections.append(index) } else { batch?.insertedSections.append(index) }
    }

    func controller(
        _ controller: FetchedResultsController<Boat>, didChange object: SafeObject<Boat>, at path: RowPath?,
        for type: FetchedChangeType, newPath: RowPath?
    ) {
        log.append("\(type) \(Self.words(path))→\(Self.words(newPath))")
        checkShown(controller, .object)
        defer { whenCalled?(.object, controller) }
        if let newPath {
            let shown = controller.object(at: newPath)
            if shown.objectID != object.id { problems.append("another object is shown at \(newPath)") }
            if (try? controller.path(of: shown)) != newPath {
                problems.append("\(newPath) is not the path of its object")
            }
        }
        if type == .move, let path, let newPath, let batch,
            batch.deletedSections.contains(path.section) || batch.insertedSections.contains(newPath.section)
        {
            problems.append("a table refuses a move out of a deleted section or into an inserted one")
        }
        if type == .update {
            batch?.updated.append((newPath!, object.id))
        } else {
            if let path { batch?.deleted.append(path) }
            if let newPath { batch?.inserted.append((newPath, object.id)) }
        }
    }

    private static func words(_ path: RowPath?) -> String { path.map { "\($0.section).\($0.row)" } ?? "" }

    func controllerDidChangeContent(_ controller: FetchedResultsController<Boat>) {
        checkShown(controller, .did)
        guard let batch else { return }
        self.batch = nil
        for path in batch.deleted.sorted().reversed() { sections[path.section].remove(at: path.row) }
        for section in batch.deletedSections.sorted().reversed() where !sections.remove(at: section).isEmpty {
            problems.append("section \(section) is deleted with rows in it")
        }
        for section in batch.insertedSections.sorted() { sections.insert([], at: section) }
        for (path, id) in batch.inserted.sorted(by: { $0.0 < $1.0 }) {
            sections[path.section].insert(id, at: path.row)
        }
        for (path, id) in batch.updated where sections[path.section][path.row] != id {
            problems.append("another row is updated at \(path)")
        }
        if hasRead, sections != Self.shown(controller) { problems.append("did: the new content is not shown") }
        whenChanged?()
        whenCalled?(.did, controller)
    }

    func controller(_ controller: FetchedResultsController<Boat>, didFailWith error: StoreError) {
        problems.append("\(error)")
    }

    func clearLog() { log = [] }
}

/// Value that one thread hands to another.
final class Held<Value>: @unchecked Sendable {
    var value: Value?
}

/// A controller on a connection of its own, with a table.
final class Desk {
    let scheduler = ManualScheduler()
    let connection: Connection
    let controller: FetchedResultsController<Boat>
    let table = Table()
    private var changeCount = 0

    init(
        _ store: Store, _ request: FetchRequest<Boat>, keyPaths: [PartialKeyPath<Boat>]? = nil, cacheName: String? = nil
    )
        throws
    {
        connection = try store.connect(on: .scheduler(scheduler))
        controller = FetchedResultsController(connection, request, keyPaths: keyPaths, cacheName: cacheName)
        controller.delegate = table
        table.whenChanged = { [unowned self] in changeCount += 1 }
    }

    /// Fetches and waits for the first delivery.
    /// - Parameter reading: whether the table reads before the delivery.
    func fetch(reading: Bool = true) throws -> Bool {
        try controller.performFetch()
        if reading { table.reload(controller) }
        return told(1)
    }

    /// Waits until `count` more batches were delivered.
    func told(_ count: Int) -> Bool {
        let wanted = changeCount + count
        return (try? scheduler.turn { changeCount >= wanted }) != nil
    }

    /// Whether the table found no problem and shows the rows of the controller.
    func isRight(_ request: FetchRequest<Boat>, _ store: Store) throws -> Bool {
        let shown = controller.sections.map { $0.objects.map { $0.objectID! } }
        return table.problems.isEmpty && table.sections == shown
    }
}

/// Blocks the upkeep thread in a section function, which upkeep calls for each written buoy.
final class HeldUpkeep: Sendable {
    private let isClosed = Mutex(false)
    private let held = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)
    private let token = Held<NotificationToken>()

    init(_ store: Store) throws {
        let scheduler = ManualScheduler()
        var isReady = false
        let buoys = try store.connect(on: .scheduler(scheduler)).objects(Buoy.self)
        let sections = buoys.sectioned(by: \.colour) { [weak self] colour in
            if let self, isClosed.withLock({ $0 }) {
                held.signal()
                opened.wait()
            }
            return colour
        }
        token.value = try sections.observe { _ in isReady = true }
        try scheduler.turn { isReady }
    }

    /// Makes a commit and blocks upkeep at it.
    func close(_ store: Store) throws {
        isClosed.withLock { $0 = true }
        try store.write { try $0.add(Buoy()) }
        held.wait()
    }

    func open() {
        isClosed.withLock { $0 = false }
        opened.signal()
    }
}
