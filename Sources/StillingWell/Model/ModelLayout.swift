// Offsets of the stored properties of a model class, found by the standard library's field reflection and kept. Objects
// are then initialised and written to rows by offsets, without mirrors or key paths.
import Observation
import StillingWellBasis
import StillingWellSync
@_spi(Reflection) import Swift
import Synchronization

/// The stored properties of one model class, in order of declaration.
///
/// Unchecked because it holds metatypes of wrappers, which are not `Sendable` for the compiler. All properties are
/// constant, except for an atomic.
final class ModelLayout: @unchecked Sendable {
    struct Property {
        let name: String
        let offset: Int
        let wrapper: any AnyStored.Type
        /// The wrapper if its value is a link or is stored in other rows.
        let connected: (any AnyConnected.Type)?

        var type: ColumnType { wrapper.columnType }
        var isOptional: Bool { wrapper.isOptional }
        var target: StoredObject.Type? { wrapper.target }
    }

    /// A backlink property, which has no column.
    struct BacklinkProperty {
        let name: String
        let offset: Int
        let wrapper: any AnyBacklink.Type
    }

    let typeName: String
    let properties: [Property]
    let backlinks: [BacklinkProperty]
    /// Names of properties without a wrapper, which are not stored. Their values are lost with the instance.
    let unstored: [String]
    /// Whether the warning about these properties has been logged.
    let isUnstoredSaid = Atomic(false)
    /// Ordinals of properties declared as primary key. A valid class has at most one.
    let primaryKeys: [Int]
    /// Ordinals of properties that need an index. Links always do.
    let indexed: [Int]
    private let ordinalOffsets: [Int]
    /// Steps that encode a row, by ordinal: the offset of the value in an instance, and the wrapper that encodes it. The
    /// wrapper is nil if the 8 bytes at the offset are the column's slot.
    let encoding: [(offset: Int, wrapper: (any AnyStored.Type)?)]
    let connected: [(ordinal: Int, offset: Int, wrapper: any AnyConnected.Type)]

    /// Whether instances have stored properties only, so that an instance can be reused for another row.
    let isAllStored: Bool

    private static let layouts = Guarded<[ObjectIdentifier: ModelLayout]>("model layouts", [:])
    /// The same layouts by class, readable without the lock, because each new instance looks up the layout of its
    /// class.
    private static let complete = PointerCache("complete model layouts")
    /// Layouts without roles, for initialising the instance that the roles are read from. Task-local, because another
    /// thread would take a primary key for an ordinary property.
    @TaskLocal private static var outlines: [ObjectIdentifier: ModelLayout] = [:]

    /// The layout of `type`; made at its first use. Any thread.
    @inline(__always)
    static func of(_ type: StoredObject.Type) -> ModelLayout {
        guard let known = complete.value(unsafeBitCast(type, to: UnsafeRawPointer.self)) else { return find(type) }
        return ObjectPointer.object(UnsafeRawPointer(bitPattern: known)!)
    }

    private static func find(_ type: StoredObject.Type) -> ModelLayout {
        let key = ObjectIdentifier(type)
        if let known = layouts.withLock({ $0[key] }) ?? outlines[key] { return known }
        let (properties, backlinks, unstored, isAllStored) = properties(of: type)
        // Making an instance needs a layout, and learning the roles needs an instance. So the first instance gets an
        // outline.
        let outline = ModelLayout("\(type)", properties)
        let roles = $outlines.withValue(outlines.merging([key: outline]) { $1 }) {
            let sample = type.init()
            return properties.map { $0.wrapper.role(at: sample.address + $0.offset) }
        }
        let layout = ModelLayout(
            "\(type)", properties, backlinks: backlinks, unstored: unstored,
            primaryKeys: roles.indices.filter { roles[$0] == .primaryKey },
            indexed: roles.indices.filter { roles[$0] == .indexed }, isAllStored: isAllStored)
        // If several threads come here at once, the first one's layout is kept. Others may already use it without a
        // reference.
        let kept = layouts.withLock { layouts in
            if let known = layouts[key] { return known }
            layouts[key] = layout
            return layout
        }
        let address = ObjectPointer.borrowed(kept)
        _ = complete.keep(Int(bitPattern: address), unsafeBitCast(type, to: UnsafeRawPointer.self))
        return kept
    }

    init(
        _ typeName: String, _ properties: [Property], backlinks: [BacklinkProperty] = [], unstored: [String] = [],
        primaryKeys: [Int] = [], indexed: [Int] = [], isAllStored: Bool = false
    ) {
        self.isAllStored = isAllStored
        self.unstored = unstored
        self.typeName = typeName
        self.properties = properties
        self.backlinks = backlinks
        self.primaryKeys = primaryKeys
        ordinalOffsets = properties.map { $0.offset + $0.wrapper.ordinalOffset }
        self.indexed = properties.indices.filter { indexed.contains($0) || properties[$0].type == .link }
        encoding = properties.map { ($0.offset + $0.wrapper.valueOffset, $0.wrapper.isSlot ? nil : $0.wrapper) }
        connected = properties.enumerated().compactMap { ordinal, property in
            property.connected.map { (ordinal, property.offset, $0) }
        }
    }

    /// Returns the declaration of a class, from which its table is opened.
    static func declaration(of type: StoredObject.Type) -> ModelDeclaration {
        let layout = of(type)
        func declared(_ type: StoredObject.Type) -> ModelDeclaration.Class {
            (ObjectIdentifier(type), "\(type)")
        }
        func column(_ name: String, _ wrapper: any AnyStored.Type, isIndexed: Bool) -> ColumnSchema {
            ColumnSchema(
                name: name, type: wrapper.columnType, isOptional: wrapper.isOptional,
                target: wrapper.target.map { "\($0)" }, isIndexed: isIndexed)
        }
        let elements = layout.properties.enumerated().compactMap { ordinal, property in
            property.wrapper.element.map { element in
                let name = ListTable.columnNames[ListTable.value]
                return (ordinal: ordinal, schema: column(name, element, isIndexed: element.columnType == .link))
            }
        }
        return ModelDeclaration(
            model: declared(type),
            columns: layout.properties.enumerated().map {
                column($1.name, $1.wrapper, isIndexed: layout.indexed.contains($0))
            },
            targets: layout.properties.map { $0.target.map(declared) }, primaryKeys: layout.primaryKeys,
            elements: elements,
            isObservable: { type is any Observable.Type }, makeRow: { layout.write(type.init(), to: $0) })
    }

    private func write(_ object: StoredObject, to row: RowBuffer) {
        row.reset(columnCount: properties.count)
        withExtendedLifetime(object) {
            for (ordinal, property) in properties.enumerated() {
                property.wrapper.write(at: object.address + encoding[ordinal].offset, row, ordinal)
            }
        }
    }

    private static func properties(
        of type: StoredObject.Type
    ) -> (stored: [Property], backlinks: [BacklinkProperty], unstored: [String], isAllStored: Bool) {
        var (stored, backlinks, unstored): ([Property], [BacklinkProperty], [String]) = ([], [], [])
        var fields = 0
        forEachField(of: type) { name, offset, fieldType in
            // Fields of `StoredObject` have no wrappers.
            if offset < ownSize { return }
            fields += 1
            // The wrapper of property `score` is the field `_score`.
            let property = String(name.dropFirst())
            switch (fieldType as? any AnyProperty.Type)?.kind {
            case .stored(let wrapper):
                stored.append(Property(name: property, offset: offset, wrapper: wrapper, connected: nil))
            case .connected(let wrapper):
                stored.append(Property(name: property, offset: offset, wrapper: wrapper, connected: wrapper))
            case .backlink(let wrapper):
                backlinks.append(BacklinkProperty(name: property, offset: offset, wrapper: wrapper))
            case .columnless: break
            case nil:
                // Fields added by the compiler or a macro are excluded.
                if !name.hasPrefix("$__lazy"), !name.hasPrefix("_$") { unstored.append(name) }
            }
        }
        return (stored, backlinks, unstored, stored.count == fields)
    }

    /// Upper bound of the offsets of `StoredObject`'s own fields. Fields of subclasses have this offset or a larger
    /// one.
    private static let ownSize: Int = {
        var end = 0
        forEachField(of: StoredObject.self) { _, offset, _ in end = max(end, offset + 1) }
        return end
    }()

    private static func forEachField(of type: StoredObject.Type, _ body: (String, Int, Any.Type) -> Void) {
        let classFields = _EachFieldOptions(rawValue: 1)
        _ = _forEachField(of: type, options: classFields) { name, offset, fieldType, _ in
            body(String(cString: name), offset, fieldType)
            return true
        }
    }

    /// Sets the ordinals of a new instance's properties.
    @inline(__always)
    static func prepare(_ address: UnsafeMutableRawPointer, of type: StoredObject.Type) {
        guard let known = complete.value(unsafeBitCast(type, to: UnsafeRawPointer.self)) else {
            return find(type).prepare(address)
        }
        Unmanaged<ModelLayout>.fromOpaque(UnsafeRawPointer(bitPattern: known)!)._withUnsafeGuaranteedRef {
            $0.prepare(address)
        }
    }

    @inline(__always)
    private func prepare(_ address: UnsafeMutableRawPointer) {
        var ordinal: Int32 = 0
        ordinalOffsets.withUnsafeBufferPointer { offsets in
            for offset in offsets {
                address.storeBytes(of: ordinal, toByteOffset: offset, as: Int32.self)
                ordinal &+= 1
            }
        }
    }

    /// Returns the ordinal of the property that a key path names. Stops the program if it leads over a link, or is the
    /// count of a list, unless `acceptsCount`.
    func column<Object: StoredObject>(_ keyPath: PartialKeyPath<Object>, acceptsCount: Bool = false) -> Int {
        let path = ColumnPath(keyPath)
        stopUnless(path.columns.count == 1, "\(keyPath) leads over a link; a property of \(typeName) is needed here")
        let property = properties[path.column]
        stopUnless(
            acceptsCount || property.type != .list || type(of: keyPath).valueType != Int.self,
            "\(keyPath) is the count of '\(property.name)', which is not stored; store it as a property to use it here")
        return path.column
    }
}
