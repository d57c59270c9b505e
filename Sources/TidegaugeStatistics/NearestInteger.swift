// Conversion of figures to integers. Pure.

extension Int {
    /// The integer nearest to `value`, within the range of the type. 0 if `value` is not a number.
    public init(nearest value: Double) {
        let rounded = value.rounded()
        self = Int(exactly: rounded) ?? (value.isNaN ? 0 : value < 0 ? .min : .max)
    }
}
