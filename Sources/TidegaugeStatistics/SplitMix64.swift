import StillingWellBasis

/// The generator of seeded random draws.
public typealias SplitMix64 = StillingWellBasis.SplitMix64
