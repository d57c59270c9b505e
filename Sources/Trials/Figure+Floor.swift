import Measure

extension Figure {
    /// A figure under so many times its floor says more about the harness than about the store.
    package static let floorFactor = 3.0
}
