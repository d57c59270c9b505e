// `@LinkingObjects`, a property that returns the objects that link to its owner. Nothing is stored for it. Its query is
// made at first use and kept in the object.
import StillingWellBasis

/// Declares a property with the objects that link to this one, along a link or list of any class.
///
///     final class Person: StoredObject {
///         @LinkingObjects(\Dog.owner) var dogs: Backlinks<Dog>
///     }
///
/// The property takes no column, may be added and removed without migration, and cannot be set. Filters and orders
/// cannot name it. Observers of the object are notified when an object begins or ceases to link to it, unless they name
/// other properties only. Use it on the object's connection only.
@propertyWrapper
public struct LinkingObjects<Source: StoredObject>: AnyBacklink {
    private let path: PartialKeyPath<Source>
    private let find: (StoredObject) throws -> Results<Source>
    /// Results made for the object that holds the wrapper, and the object's id then.
    private var known: (results: Results<Source>, id: ObjectID)?

    /// Declares the objects whose link leads to this one, or whose list contains it.
    public init<Property: _LinkingProperty>(_ keyPath: KeyPath<Source, Property>) {
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
        defer { withExtendedLifetime(owner) {} }
        let wrapper = place(owner, storage)
        if let trace = owner.trace {
            trace.noteBacklink(owner, wrapped, at: UnsafeMutableRawPointer(wrapper) - owner.address)
        }
        guard owner.trace == nil, let binding = owner.binding else {
            return Backlinks(live: nil, owner: Owner.self)
        }
        if let known = wrapper.pointee.known, known.id == binding.id, known.results.connection === binding.connection {
            return Backlinks(live: known.results, owner: Owner.self)
        }
        do {
            let results = try wrapper.pointee.find(owner)
            wrapper.pointee.known = (results, binding.id)
            return Backlinks(live: results, owner: Owner.self)
        } catch {
            // A property cannot throw, and an empty collection would be a wrong result.
            stopProgram("@LinkingObjects(\(wrapper.pointee.path)) of \(Owner.self): \(error)")
        }
    }
}

extension LinkingObjects {
    /// Returns the address of the wrapper. Valid while `owner` is referenced.
    private static func place<Owner: StoredObject>(
        _ owner: Owner, _ storage: ReferenceWritableKeyPath<Owner, Self>
    ) -> UnsafeMutablePointer<Self> {
        if let known = owner.knownPlace(of: storage) { return known.assumingMemoryBound(to: Self.self) }
        let place = withUnsafeMutablePointer(to: &owner[keyPath: storage]) { $0 }
        owner.notePlace(UnsafeMutableRawPointer(place), of: storage)
        return place
    }

    static var source: StoredObject.Type { Source.self }

    static func ordinal(at address: UnsafeRawPointer) -> Int {
        ModelLayout.of(Source.self).column(address.assumingMemoryBound(to: Self.self).pointee.path)
    }
}

extension StoredObject {
    /// Returns the columns and backlink properties that key paths of an observer name.
    /// - Returns: the columns as bits, and the backlinks. Everything if `keyPaths` is nil.
    /// - Throws: `unknownModel`, `otherClass` for a `@LinkingObjects` property whose link does not lead to this class.
    func observed<Object: StoredObject>(
        _ keyPaths: [PartialKeyPath<Object>]?, _ binding: RowBinding
    ) throws(StoreError) -> (columns: UInt64, backlinks: [Backlink]) {
        let layout = ModelLayout.of(Object.self)
        guard let keyPaths else {
            // Backlinks from a class that is not in the store's models, or does not link here, are skipped.
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

/// The objects that link to an object by one link or list, in order of creation. Live like `Results`, and on the same
/// scheduler. Empty for an object that is not stored.
public struct Backlinks<Source: StoredObject>: RandomAccessCollection {
    let live: Results<Source>?
    /// Class of the object. Its name takes 480 instructions, so only errors make it.
    let owner: StoredObject.Type

    /// Number of linking objects. Complexity as `Results.count`.
    public var count: Int { live?.count ?? 0 }
    @_documentation(visibility: internal)
    public var startIndex: Int { 0 }
    @_documentation(visibility: internal)
    public var endIndex: Int { count }

    /// Complexity as the subscript of `Results`.
    public subscript(position: Int) -> Source {
        guard let live else {
            stopProgram("index \(position) is outside of 0 objects that lead to a plain \(owner)")
        }
        return live[position]
    }

    /// Iterates over the objects shown now. Changes made by the loop body do not make it skip or repeat one.
    public func makeIterator() -> AnyIterator<Source> {
        live.map { AnyIterator($0.makeIterator()) } ?? AnyIterator { nil }
    }

    /// Used by `Array(objects)`. May have fewer elements than `count` if rows cannot be read.
    public func _copyToContiguousArray() -> ContiguousArray<Source> { ContiguousArray(gathering: makeIterator()) }

    /// Returns the same objects as results, which can be refined, observed by key paths, or frozen.
    /// - Throws: `notStored` for an object that is not stored.
    public func results() throws -> Results<Source> {
        guard let live else { throw StoreError.notStored(type: "\(owner)") }
        return live
    }

    /// Calls `body` on the connection's scheduler: once with `.initial`, then when an object starts or stops linking
    /// here, or a linking object changes, until the token is invalidated. See `Results.observe`.
    /// - Throws: `notStored`, `noScheduler` on a connection without a delivery context, `closed`, `openedBeforeFork`.
    public func observe(
        file: String = #fileID, line: Int = #line, _ body: @escaping (ResultsChange<Source>) -> Void
    ) throws -> NotificationToken { try results().observe(file: file, line: line, body) }
}
