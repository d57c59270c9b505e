// The sections behind a controller, whatever the type of their keys. On the connection's scheduler.
import Foundation
import StillingWell

/// One section of a controller: its name, and its objects as they were shown when it was taken.
public struct FetchedSection<Object: StoredObject> {
    /// The section key in words, which no other key of its type has; nil where the key is nil, empty where there are no
    /// section keys.
    public let name: String?
    /// A short title for an index at the side of a list: the first letter of the name, in upper case.
    public let indexTitle: String
    /// How many objects there are. O(1).
    public let objectCount: Int
    /// The objects, made as they are asked for. Those of a section that is gone may be invalidated.
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
    /// What is asked, exactly, section keys included; nil where that cannot be said of a section function.
    let identity: () -> String?
    private let name: (Int, SectionedRows) -> String?

    init(_ results: Results<Object>) {
        let query = results.asOneSection
        self.query = query
        identity = { query.identity }
        name = { _, _ in "" }
    }

    /// - Parameter function: the name of the function that makes section keys; nil where a property is the key.
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

    /// O(sections · log n).
    func sections(in rows: SectionedRows) -> [FetchedSection<Object>] {
        (0..<rows.sectionCount).map { section($0, in: rows) }
    }

    /// Names and sizes alone, which touch no object. O(sections · log n).
    func cachedSections(of rows: SectionedRows) -> [CachedSection] {
        (0..<rows.sectionCount).map { CachedSection(name: name($0, rows), objectCount: rows.count(ofSection: $0)) }
    }
}

/// What a function of section keys is known by: two closures cannot be compared.
enum SectionFunctionName: Sendable {
    case known(String)
    case unknown
}

enum SectionName {
    /// A section key in words; different for different keys of one type.
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

    /// A date's own description leaves out what is less than a second.
    private static func words(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        let whole = seconds.rounded(.down)
        return seconds == whole || !seconds.isFinite
            ? "\(date)" : "\(Date(timeIntervalSinceReferenceDate: whole)) + \(seconds - whole) s"
    }
}
