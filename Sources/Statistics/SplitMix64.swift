import Basis

/// The generator that everything random here is drawn from.
public typealias SplitMix64 = Basis.SplitMix64
