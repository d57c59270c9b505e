// The part of a run that the seed decides. A foreign writer derives the same plan from the same seed.
import StillingWell
import StillingWellSeededRandom

struct Plan: Sendable {
    /// One connection and its observers.
    struct SitePlan: Sendable {
        let place: PlaceKind
        /// Number of the delivery context. Connections with the same kind and number share it.
        let placeNumber: Int
        let viewCount: Int
        /// Whether the connection has a store handle of its own, and so an upkeep thread of its own.
        let hasOwnStore: Bool
        /// Whether its callbacks sleep at times.
        let isSlow: Bool
    }

    let seed: UInt64
    let durability: Durability
    /// Number of keys of small rows from which commits draw.
    let smallKeys: Int
    /// Number of small keys that most links lead to.
    let popularKeys = 3
    let largeKeys: Int
    let boardKeys: Int
    let queries: [Query]
    let sites: [SitePlan]
    let localWriters: Int
    let foreignWriters: Int

    init(seed: UInt64, durability forced: Durability? = nil) {
        self.seed = seed
        var random = SeededRandom(seed: seed, actor: "plan")
        let drawn = random.one(of: [Durability.relaxed, .memory])
        durability = forced ?? drawn
        smallKeys = random.one(of: [6, 12, 24])
        largeKeys = random.from(300...1_200)
        boardKeys = random.from(4...8)
        localWriters = random.from(2...3)
        foreignWriters = random.from(1...2)
        queries = (0..<32).map { index in Query(number: index, &random) }
        // Every kind of delivery context occurs. One to three connections are made per kind, and the first two share a
        // context.
        var sites: [SitePlan] = []
        for kind in PlaceKind.allCases {
            // The main thread runs both kinds of main delivery context, so each gets one connection.
            let count = random.from(1...(kind.isMainThread ? 1 : 3))
            for number in 0..<count {
                sites.append(
                    SitePlan(
                        place: kind, placeNumber: kind.isMainThread ? 0 : number / 2, viewCount: random.from(8...16),
                        hasOwnStore: random.oneIn(4), isSlow: sites.count == 2 || random.oneIn(6)))
            }
        }
        self.sites = sites
    }

    // MARK: Numbers in the ledger

    static let setupWriter = 0
    func localWriter(_ number: Int) -> Int { 100 + number }
    func siteWriter(_ number: Int) -> Int { 200 + number }
    func foreignWriter(_ number: Int) -> Int { 300 + number }
    /// Writer number of forked children.
    static let forkedWriter = 400
    static func isForeign(_ writer: Int) -> Bool { writer >= 300 }

    func random(_ actor: String) -> SeededRandom { SeededRandom(seed: seed, actor: actor) }

    var viewCount: Int { sites.reduce(0) { $0 + $1.viewCount } }
    var durabilityText: String { durability == .memory ? "in memory" : "relaxed, on disk" }
}
