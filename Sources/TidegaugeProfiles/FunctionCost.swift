// Cost of a function in instructions.

public struct FunctionCost: AdditiveArithmetic, Codable, Sendable, Equatable {
    /// Instructions of the function itself.
    public var exclusive: Double
    /// Instructions of the function and all its callees.
    public var inclusive: Double
    /// Instructions of the function itself and of runtime helpers (`RuntimeHelper`) on its behalf.
    public var own: Double

    public static let zero = FunctionCost(exclusive: 0, inclusive: 0, own: 0)

    public init(exclusive: Double, inclusive: Double, own: Double) {
        (self.exclusive, self.inclusive, self.own) = (exclusive, inclusive, own)
    }

    public static func + (a: Self, b: Self) -> Self {
        Self(exclusive: a.exclusive + b.exclusive, inclusive: a.inclusive + b.inclusive, own: a.own + b.own)
    }

    public static func - (a: Self, b: Self) -> Self {
        Self(exclusive: a.exclusive - b.exclusive, inclusive: a.inclusive - b.inclusive, own: a.own - b.own)
    }

    static func / (a: Self, divisor: Double) -> Self {
        Self(exclusive: a.exclusive / divisor, inclusive: a.inclusive / divisor, own: a.own / divisor)
    }
}
