// A store with one flaw, for scenarios that must find it. It keeps no rows: versions, locks and callbacks are what hangs
// are made of.
import StoreDriver

/// Opens stores that hang in one certain way; named `flawed-` and the flaw.
public struct FlawedDriver: StoreDriver {
    private let flaw: Flaw

    public init(_ flaw: Flaw) { self.flaw = flaw }

    /// One of each.
    public static let all = Flaw.allCases.map(FlawedDriver.init)

    public var name: String { "flawed-\(flaw.rawValue)" }

    public var facts: EngineFacts {
        EngineFacts(durabilities: Set(DurabilityLevel.allCases), persists: false, hasChangeSets: false) {
            $0.keyKinds = Set(KeyKind.allCases)
            $0.advancesTogether = false
            $0.remarks = ["hangs on purpose, to show that it is found"]
        }
    }

    public func open(_ configuration: StoreConfiguration) -> FlawedStore { FlawedStore(flaw) }
}
