// The rows and sections of a controller, independent of the type of section keys. On the connection's scheduler.
import Foundation
import StillingWell

/// A section of a controller: its name, and its objects as shown when it was taken.
public struct FetchedSection<Object: StoredObject> {
    /// Section key as text, unique among the keys of its type. nil for a nil key, empty without section keys.
    public let name: String?
    /// Short title for an index beside a list: the first character of the name, in upper case.
    public let indexTitle: String
    /// Number of objects. O(1).
    public let objectCount: Int
    /// Objects, made when accessed. Those of a deleted section may be invalidated.
    public let objects: AnyRandomAccessCollection<Object>

    init(name: String?, objects: ResultsSection<Int, Object>) {
        self.name = name
        indexTitle = name?.prefix(1).uppercased() ?? ""
        objectCount = objects.count
        self.objects = AnyRandomAccessCollection(objects)
    }
}

struct FetchedRows<Object: StoredObject> {
    let query: SectionedQuery<Object>
    /// Returns text that identifies the query and its section keys. nil for an unnamed section function.
    let identity: () -> String?
    private let name: (Int, SectionedRows) -> String?

    init(_ results: Results<Object>) {
        let query = results.asOneSection
        self.query = query
        identity = { query.identity }
        name = { _, _ in "" }
    }

    /// - Parameter function: name of the function that makes section keys; nil if a property is the key.
    init<Key: StorableValue>(_ results: SectionedResults<Key, Object>, function: SectionFunctionName?) {
        let query = results.asQuery
        self.query = query
        identity = {
            switch function {
            case nil: query.identity
            case .unknown: nil
            case .known(let name): "\(query.identity) \(Array(name.utf8))"
            }
        }
        name = { SectionName.words(results.key(ofSection: $0, in: $1)) }
    }

    func section(_ section: Int, in rows: SectionedRows) -> FetchedSection<Object> {
        FetchedSection(name: name(section, rows), objects: query.objects(ofSection: section, in: rows))
    }

    func sections(in rows: SectionedRows) -> [FetchedSection<Object>] {
        (0..<rows.sectionCount).map { section($0, in: rows) }
    }

    /// Returns names and sizes of the sections without making objects.
    func cachedSections(of rows: SectionedRows) -> [CachedSection] {
        (0..<rows.sectionCount).map { CachedSection(name: name($0, rows), objectCount: rows.count(ofSection: $0)) }
    }
}

/// The name of a section function, because closures cannot be compared.
enum SectionFunctionName: Sendable {
    case known(String)
    case unknown
}

enum SectionName {
    /// Returns a section key as text, different for different keys of one type.
    static func words(_ key: some StorableValue) -> String? {
        switch key._columnValue {
        case .null: nil
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let value): value
        case .date(let value): words(value)
        case .data(let value): value.map { String(format: "%02x", $0) }.joined()
        case .uuid(let value): value.uuidString
        case .link(let value): "\(value.rawValue)"
        }
    }

    /// Returns a date as text including fractions of a second, which its own description omits.
    private static func words(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        let whole = seconds.rounded(.down)
        return seconds == whole || !seconds.isFinite
            ? "\(date)" : "\(Date(timeIntervalSinceReferenceDate: whole)) + \(seconds - whole) s"
    }
}
