import StillingWellBasis

/// The generator of all random draws.
public typealias SplitMix64 = StillingWellBasis.SplitMix64
