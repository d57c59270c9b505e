// Everything a seed decides before a run begins. A foreign writer makes the same plan from the same seed.
import StillingWell
import StillingWellSeededRandom

struct Plan: Sendable {
    /// One connection and what observes on it.
    struct SitePlan: Sendable {
        let place: PlaceKind
        /// Connections of one place share its thread or queue.
        let placeNumber: Int
        let viewCount: Int
        /// Has a handle of the store of its own, and with it an upkeep thread.
        let hasOwnStore: Bool
        /// Its callbacks sleep now and then.
        let isSlow: Bool
    }

    let seed: UInt64
    let durability: Durability
    /// Keys drawn from; about 60 % of them exist at any time.
    let smallKeys: Int
    /// Of the small keys those that most links lead to.
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
        // Every kind of place, and for each kind one that two connections share.
        var sites: [SitePlan] = []
        for kind in PlaceKind.allCases {
            // The main thread runs both of its kinds.
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
    /// Of forked children.
    static let forkedWriter = 400
    static func isForeign(_ writer: Int) -> Bool { writer >= 300 }

    func random(_ actor: String) -> SeededRandom { SeededRandom(seed: seed, actor: actor) }

    var viewCount: Int { sites.reduce(0) { $0 + $1.viewCount } }
    var durabilityText: String { durability == .memory ? "in memory" : "relaxed, on disk" }
}
