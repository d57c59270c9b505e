import StillingWellBasis

/// The generator that everything random here is drawn from.
public typealias SplitMix64 = StillingWellBasis.SplitMix64
