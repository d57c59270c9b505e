// Arguments that several commands share.
import ArgumentParser
import Foundation
import StillingWell

public struct SeedOption: ParsableArguments {
    @Option(help: "Random seed, which is printed (default: random).")
    public var seed: UInt64?

    public init() {}

    /// The given seed, or a random one.
    public var value: UInt64 { seed ?? .random(in: 1...999_999) }
}

extension Durability: ExpressibleByArgument {}

/// Name of the program, as its children are started.
public let program = "stillingwell-torture"

/// Ends the program with an error about its environment.
public func refuse(_ reason: String) -> Never {
    try? FileHandle.standardError.write(contentsOf: Data("\(program): \(reason)\n".utf8))
    _exit(64)
}
