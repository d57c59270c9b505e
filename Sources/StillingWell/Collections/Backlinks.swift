// `@LinkingObjects`, a property that is what leads here: nothing is stored for it. The query behind it is made when the
// property is used first, and kept with the object.
import StillingWellBasis

/// Makes a property the way back along a link or list of another class, or of the same one.
///
///     final class Person: StoredObject {
///         @LinkingObjects(\Dog.owner) var dogs: Backlinks<Dog>
///     }
///
/// It takes no column, may be added and removed freely, and cannot be set: it changes with the links. Filters and orders
/// cannot name it; observers of the object are told when other objects lead to it. Use it on the object's connection only.
@propertyWrapper
public struct LinkingObjects<Source: StoredObject>: AnyBacklink {
    private let path: PartialKeyPath<Source>
    private let find: (StoredObject) throws -> Results<Source>
    /// Of the object the wrapper is in, as it stood in the store then.
    private var known: (results: Results<Source>, id: ObjectID)?

    /// The objects whose link leads here.
    public init<Target: StoredObject>(_ keyPath: KeyPath<Source, Target?>) {
        path = keyPath
        find = { try $0.linkingObjects(keyPath) }
    }

    /// The objects whose list has this one.
    public init<Target: StoredObject>(_ keyPath: KeyPath<Source, List<Target>>) {
        path = keyPath
        find = { try $0.linkingObjects(keyPath) }
    }

    @available(*, unavailable, message: "@LinkingObjects works in subclasses of StoredObject only")
    public var wrappedValue: Backlinks<Source> { fatalError("unavailable") }

    public static subscript<Owner: StoredObject>(
        _enclosingInstance owner: Owner,
        wrapped wrapped: KeyPath<Owner, Backlinks<Source>>,
        storage storage: ReferenceWritableKeyPath<Owner, LinkingObjects<Source>>
    ) -> Backlinks<Source> {
        if let trace = owner.trace {
            let offset = withUnsafeMutablePointer(to: &owner[keyPath: storage]) {
                UnsafeMutableRawPointer($0) - owner.address
            }
            trace.noteBacklink(owner, wrapped, at: offset)
        }
        guard owner.trace == nil, let binding = owner.binding else {
            return Backlinks(live: nil, type: "\(Owner.self)")
        }
        if let known = owner[keyPath: storage].known, known.id == binding.id,
            known.results.connection === binding.connection
        {
            return Backlinks(live: known.results, type: "\(Owner.self)")
        }
        let wrapper = owner[keyPath: storage]
        do {
            let results = try wrapper.find(owner)
            owner[keyPath: storage].known = (results, binding.id)
            return Backlinks(live: results, type: "\(Owner.self)")
        } catch {
            // A property cannot throw, and an empty collection would be a lie.
            stopProgram("@LinkingObjects(\(wrapper.path)) of \(Owner.self): \(error)")
        }
    }
}

extension LinkingObjects {
    static var source: StoredObject.Type { Source.self }

    static func ordinal(at address: UnsafeRawPointer) -> Int {
        ModelLayout.of(Source.self).column(address.assumingMemoryBound(to: Self.self).pointee.path)
    }
}

extension StoredObject {
    /// Columns and backlink properties whose changes observers of the object are told, given key paths.
    /// - Returns: the columns, as bits, and the ways back along links. All of them without key paths.
    /// - Throws: `unknownModel`, `otherClass` for a way back from where nothing leads here.
    func observed<Object: StoredObject>(
        _ keyPaths: [PartialKeyPath<Object>]?, _ binding: RowBinding
    ) throws(StoreError) -> (columns: UInt64, backlinks: [Backlink]) {
        let layout = ModelLayout.of(Object.self)
        guard let keyPaths else {
            // From a class that is no model of the store nothing ever leads here.
            return (.max, layout.backlinks.compactMap { try? backlink($0, binding) })
        }
        var plain: [PartialKeyPath<Object>] = []
        var backlinks: [Backlink] = []
        for keyPath in keyPaths {
            if let property = layout.backlink(keyPath) {
                backlinks.append(try backlink(property, binding))
            } else {
                plain.append(keyPath)
            }
        }
        return (binding.table.layout.mask(of: plain), backlinks)
    }

    private func backlink(
        _ property: ModelLayout.BacklinkProperty, _ binding: RowBinding
    ) throws(StoreError) -> Backlink {
        let source = try binding.connection.core.storage.table(of: property.wrapper.source)
        let ordinal = withExtendedLifetime(self) { property.wrapper.ordinal(at: address + property.offset) }
        let column = source.layout.column(ordinal)
        guard let edge = source.links?.edge(column), edge.target == binding.table.id else {
            throw .otherClass(
                type: "\(type(of: self))", expected: source.schema.columns[column].target ?? "no object")
        }
        return Backlink(name: property.name, edge: edge)
    }
}

/// The objects that lead to an object by one link or list, in order of creation: live like `Results`, and belonging to
/// the same scheduler. Of an object that is not stored there are none.
public struct Backlinks<Source: StoredObject>: RandomAccessCollection {
    let live: Results<Source>?
    let type: String

    public var startIndex: Int { 0 }
    /// How many objects lead here. O(log n); when it is read first, and after a delivery while nobody observes it, as
    /// much as there are.
    public var endIndex: Int { live?.count ?? 0 }

    /// O(log n).
    public subscript(position: Int) -> Source {
        guard let live else {
            stopProgram("index \(position) is outside of 0 objects that lead to a plain \(type)")
        }
        return live[position]
    }

    /// Goes over the objects shown now: what a loop does to them does not make it skip or repeat one.
    public func makeIterator() -> AnyIterator<Source> {
        live.map { AnyIterator($0.makeIterator()) } ?? AnyIterator { nil }
    }

    /// What `Array(objects)` asks for: what a loop comes to, which may be less than `count` where rows are lost.
    public func _copyToContiguousArray() -> ContiguousArray<Source> { ContiguousArray(gathering: makeIterator()) }

    /// The same objects as a query, to be refined, observed by key paths, or frozen.
    /// - Throws: `notStored` for an object that is not stored.
    public func results() throws -> Results<Source> {
        guard let live else { throw StoreError.notStored(type: type) }
        return live
    }

    /// Calls `body` on the connection's scheduler: once with `.initial`, then whenever an object begins or ceases to lead
    /// here, or one that does is changed, until the token is invalidated. As `Results.observe`.
    /// - Throws: `notStored`, `noScheduler` on a connection that lives for one block, `closed`.
    public func observe(
        file: String = #fileID, line: Int = #line, _ body: @escaping (ResultsChange<Source>) -> Void
    ) throws -> NotificationToken { try results().observe(file: file, line: line, body) }
}
