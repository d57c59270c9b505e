// Where stored properties lie in their objects: found by a key path once, and kept by its address.
import StillingWellBasis

extension StoredObject {
    private static let places = PointerCache("places of properties")

    /// Where the property lies that a key path names; nil where that has not been noted.
    @usableFromInline
    final func knownPlace(of storage: AnyKeyPath) -> UnsafeMutableRawPointer? {
        Self.places.value(Unmanaged.passUnretained(storage).toOpaque()).map { address + $0 }
    }

    /// Notes where a property lies. It lies there in objects of all subclasses too. Key paths that are kept live for ever,
    /// so that no other one comes to lie at their address.
    final func notePlace(_ place: UnsafeMutableRawPointer, of storage: AnyKeyPath) {
        let offset = place - address
        guard ModelLayout.of(type(of: self)).properties.contains(where: { $0.offset == offset }) else {
            stopProgram(
                "\(storage) is no stored property of \(type(of: self)); use @Stored as a property wrapper")
        }
        let held = Unmanaged.passRetained(storage)
        if !Self.places.keep(offset, held.toOpaque()) { held.release() }
    }
}
