// The sections behind a controller, whatever the type of their keys. On the connection's scheduler.
import LiveStore

/// One section of a controller: its name, and its objects as they were shown when it was taken.
public struct FetchedSection<Object: StoredObject> {
    /// The section key in words; empty where there is only one section.
    public let name: String
    /// A short title for an index at the side of a list: the first letter of the name, in upper case.
    public let indexTitle: String
    /// How many objects there are. O(1).
    public let objectCount: Int
    private let rows: AnyRandomAccessCollection<Object>?

    init(name: String, objectCount: Int, rows: AnyRandomAccessCollection<Object>?) {
        self.name = name
        indexTitle = name.prefix(1).uppercased()
        self.objectCount = objectCount
        self.rows = rows
    }

    /// The objects, made as they are asked for. Of a section that comes from a cache there are none before the fetch
    /// has been read.
    public var objects: AnyRandomAccessCollection<Object> { rows ?? AnyRandomAccessCollection([]) }
}

/// What a controller asks of its sections.
protocol FetchedRows<Object>: AnyObject {
    associatedtype Object: StoredObject

    /// The sections as shown now. O(sections · log n).
    var sections: [FetchedSection<Object>] { get }
    var shownRows: SectionedRows { get }
    /// What is asked, in words.
    var identity: String { get }

    func path(of object: Object) -> RowPath?
    func observe(
        keyPaths: [PartialKeyPath<Object>]?, _ body: @escaping (FetchedRowsChange) -> Void
    ) throws -> NotificationToken
    func changes(keyPaths: [PartialKeyPath<Object>]?) throws -> LiveChanges<SectionedUpdate>
    /// - Parameter makeOutput: given nil for what there is at first.
    func makeFeed<Output>(
        keyPaths: [PartialKeyPath<Object>]?, _ makeOutput: @escaping (SectionedChangeSet?) -> Output
    ) -> Feed<Output>
    /// What the delegate is told of a change set of the rows.
    func told(_ changes: SectionedChangeSet) -> SectionedChangeSet
}

enum FetchedRowsChange {
    case initial
    case update(SectionedChangeSet)
    case failed(StoreError)
}

/// Sections with keys of a type.
final class KeyedRows<Key: StorableValue, Object: StoredObject>: FetchedRows {
    private let results: SectionedResults<Key, Object>
    /// Whether there is one section without a name, which is there even when it is empty.
    private let isOne: Bool

    init(_ results: SectionedResults<Key, Object>, isOne: Bool) {
        self.results = results
        self.isOne = isOne
    }

    var sections: [FetchedSection<Object>] {
        let all: [FetchedSection<Object>] = results.map { section in
            FetchedSection<Object>(
                name: isOne ? "" : Self.name(section.key), objectCount: section.count,
                rows: AnyRandomAccessCollection(section))
        }
        return all.isEmpty && isOne ? [FetchedSection<Object>(name: "", objectCount: 0, rows: nil)] : all
    }

    private static func name(_ key: Key) -> String {
        // An optional's own description is no word for people.
        let mirror = Mirror(reflecting: key)
        guard mirror.displayStyle == .optional else { return "\(key)" }
        return mirror.children.first.map { "\($0.value)" } ?? ""
    }

    var shownRows: SectionedRows { results.shownRows }
    var identity: String { results.queryIdentity }
    func path(of object: Object) -> RowPath? { results.path(of: object) }

    func observe(
        keyPaths: [PartialKeyPath<Object>]?, _ body: @escaping (FetchedRowsChange) -> Void
    ) throws -> NotificationToken {
        let tell: (SectionedResultsChange<Key, Object>) -> Void = { change in
            switch change {
            case .initial: body(.initial)
            case .update(_, let changes): body(.update(changes))
            case .error(let error): body(.failed(error))
            }
        }
        return try keyPaths.map { try results.observe(keyPaths: $0, tell) } ?? results.observe(tell)
    }

    func changes(keyPaths: [PartialKeyPath<Object>]?) throws -> LiveChanges<SectionedUpdate> {
        try results.changes(keyPaths: keyPaths)
    }

    func makeFeed<Output>(
        keyPaths: [PartialKeyPath<Object>]?, _ makeOutput: @escaping (SectionedChangeSet?) -> Output
    ) -> Feed<Output> {
        results.makeFeed(keyPaths: keyPaths) { [self] in makeOutput($0.map(told)) }
    }

    func told(_ changes: SectionedChangeSet) -> SectionedChangeSet {
        isOne ? changes.withoutSections : changes
    }
}
