// A cost in the base and in the head.

public struct BeforeAfter<Cost: AdditiveArithmetic & Sendable & Equatable>: AdditiveArithmetic, Sendable, Equatable {
    public var before: Cost
    public var after: Cost

    public init(before: Cost = .zero, after: Cost = .zero) { (self.before, self.after) = (before, after) }

    public var growth: Cost { after - before }

    public static var zero: Self { Self() }
    public static func + (a: Self, b: Self) -> Self { Self(before: a.before + b.before, after: a.after + b.after) }
    public static func - (a: Self, b: Self) -> Self { Self(before: a.before - b.before, after: a.after - b.after) }
}

extension BeforeAfter<Double> {
    /// Growth as a share of the base; nil if the base is 0.
    public var relative: Double? { before == 0 ? nil : growth / before }
}
