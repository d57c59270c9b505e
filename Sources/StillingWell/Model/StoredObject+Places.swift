// Addresses of properties in their objects, found by key path and cached.
import StillingWellBasis

extension StoredObject {
    private static let places = PointerCache("places of properties")

    /// Returns the address of the property that a key path names, or nil if it is not cached.
    @usableFromInline
    final func knownPlace(of storage: AnyKeyPath) -> UnsafeMutableRawPointer? {
        Self.places.value(ObjectPointer.borrowed(storage)).map { address + $0 }
    }

    /// Caches the offset of a property, which is the same in all subclasses. A cached key path is never freed, so that
    /// no other one gets its address.
    final func notePlace(_ place: UnsafeMutableRawPointer, of storage: AnyKeyPath) {
        let offset = place - address
        let layout = ModelLayout.of(type(of: self))
        guard
            layout.properties.contains(where: { $0.offset == offset })
                || layout.backlinks.contains(where: { $0.offset == offset })
        else {
            stopProgram(
                "\(storage) is no stored property of \(type(of: self)); use @Stored as a property wrapper")
        }
        let held = ObjectPointer.kept(storage)
        if !Self.places.keep(offset, held) { ObjectPointer.release(held) }
    }
}
