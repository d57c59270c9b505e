// The properties that a key path consists of, identified as `==` of key paths identifies them. The standard library
// cannot split a path over links, so this reads the key path's buffer. Its layout is documented in docs/ABI/KeyPaths.md
// of Swift.
import StillingWellBasis

/// Identities of a key path's computed properties, in order. Optional access (`?`, `!`) is not counted.
struct KeyPathIdentity {
    private struct Component: Equatable {
        /// Whether `id` is the number of a stored property, an offset in a method table, or the address of a getter.
        let kind: UInt32
        let id: UInt

        /// Whether it may be a protocol requirement, which does not tell which property implements it.
        var isRequirement: Bool { kind == 0x10_0000 }
    }

    enum Likeness {
        case same, other
        /// The key paths differ only where one names protocol requirements.
        case unknown
    }

    private var components: [Component]

    /// Identifies the properties of `keyPath`. Returns nil if one of them is not computed, as a stored one of a
    /// `struct`.
    init?(_ keyPath: AnyKeyPath) {
        components = []
        let isWhole = withExtendedLifetime(keyPath) {
            // The buffer follows the header of the object (two words) and the name for Objective-C (one word).
            read(UnsafeRawPointer(ObjectPointer.borrowed(keyPath)) + 3 * Self.word)
        }
        guard isWhole else { return nil }
    }

    private init(_ components: [Component]) { self.components = components }

    func likeness(to other: Self) -> Likeness {
        if components == other.components { return .same }
        guard components.count == other.components.count else { return .other }
        return zip(components, other.components).allSatisfy { $0 == $1 || $0.isRequirement } ? .unknown : .other
    }

    static func + (first: Self, second: Self) -> Self { Self(first.components + second.components) }

    private static let word = MemoryLayout<UInt>.size

    private mutating func read(_ buffer: UnsafeRawPointer) -> Bool {
        var place = buffer + Self.word
        let end = place + Int(buffer.load(as: UInt32.self) & 0xFF_FFFF)
        while place < end {
            let header = place.load(as: UInt32.self)
            place += MemoryLayout<UInt32>.size
            switch header >> 24 & 0x7F {
            case 2: readComputed(header, &place)
            case 4: break
            default: return false
            }
            // The type of the value follows each component but the last.
            if place < end { place = place.alignedUp(for: UInt.self) + Self.word }
        }
        return true
    }

    private mutating func readComputed(_ header: UInt32, _ place: inout UnsafeRawPointer) {
        place = place.alignedUp(for: UInt.self)
        components.append(Component(kind: header & 0x30_0000, id: place.load(as: UInt.self)))
        let (isSettable, hasArguments) = (header & 0x40_0000 != 0, header & 0x8_0000 != 0)
        let isExternal = header & 0x10 != 0
        // The identity, the getter, and the setter.
        place += (isSettable ? 3 : 2) * Self.word
        guard hasArguments else { return }
        // The size of the arguments, their witness table, and the size of the property's own arguments.
        place += Int(place.load(as: UInt.self)) + (isExternal ? 3 : 2) * Self.word
    }
}
