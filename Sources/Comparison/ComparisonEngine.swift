// Which pair comes next, and what the pairs so far decide. Knows no process and no clock: it is asked, and it is told. From
// the same plan and the same records it makes the same choices, so a resumed comparison replays its journal. Pure.
import Statistics

public struct ComparisonEngine: Sendable {
    /// A pair to be run.
    public struct Assignment: Sendable, Equatable {
        public var subject: Int
        public var number: Int
        public var stage: PairRecord.Stage
        /// Which side goes first, for each point.
        public var headFirst: [Bool]
        /// Of the data and the load, the same on both sides.
        public var seed: UInt64
        /// Bytes of environment, the same on both sides: where a stack begins moves what is measured (Mytkowicz et al.,
        /// ASPLOS 2009), and no layout may be the one that all pairs share.
        public var paddingBytes: Int
    }

    /// Of a budget, what the screening stage may take; the rest is for confirming.
    private static let screeningShare = 0.6
    private static let fewestBudgetPairs = 8

    public let plan: ComparisonPlan
    public private(set) var tracks: [GateTrack]
    public let looks: Looks
    public private(set) var spentSeconds = 0.0
    private var queue: [Assignment] = []
    private var random: SplitMix64
    private var isConfirming = false
    /// Gates that went into confirmation and are not red.
    private var family = 0
    /// Per subject: the sides' order of the next pairs.
    private var orders: [[Bool]]

    public init(_ plan: ComparisonPlan) {
        self.plan = plan
        tracks = plan.subjects.map { GateTrack($0) }
        looks = Looks(screenPairs: plan.pairs)
        random = SplitMix64(seed: plan.seed)
        orders = plan.subjects.map { _ in [] }
    }

    /// The next pair; nil when everything is decided, or the budget is spent.
    public mutating func next() -> Assignment? {
        if queue.isEmpty { refill() }
        return queue.isEmpty ? nil : queue.removeFirst()
    }

    /// What became of the pair that `next` named last.
    public mutating func take(_ record: PairRecord) {
        spentSeconds += record.lengthSeconds
        tracks[record.subject].take(record, plan.rule, planned: plan.pairs)
        if isConfirming { look(record.subject) }
        let state = tracks[record.subject].state
        if state == .noisy || state == .failing { queue.removeAll { $0.subject == record.subject } }
    }

    /// Pairs still to come, as far as can be known.
    public var pairsLeft: Int {
        tracks.reduce(queue.count) { sum, track in
            switch track.state {
            case .screening: sum + max(0, plan.pairs - track.screen.count)
            case .confirming: sum + max(0, looks.mostPairs - track.confirm.count)
            default: sum
            }
        }
    }

    private var hasTime: Bool { plan.budgetSeconds.map { spentSeconds < $0 } ?? true }

    private mutating func refill() {
        guard hasTime else { return }
        if !isConfirming {
            let due =
                plan.budgetSeconds.map(dueInBudget)
                ?? tracks.indices.filter { index in
                    tracks[index].isScreening && tracks[index].screen.count < plan.pairs
                }
            if !due.isEmpty { return queue = due.shuffled(using: &random).map { assign($0, .screen) } }
            beginConfirming()
        }
        let due = tracks.indices.filter { tracks[$0].isConfirming }
        queue = due.shuffled(using: &random).map { assign($0, .confirm) }
    }

    /// Everybody the first few pairs; then whoever can be decided soonest, so that the most gates are decided.
    private func dueInBudget(_ budget: Double) -> [Int] {
        let open = tracks.indices.filter { tracks[$0].isScreening && !tracks[$0].isDecided }
        let new = open.filter { tracks[$0].screen.count < Self.fewestBudgetPairs }
        if !new.isEmpty { return new }
        guard spentSeconds < budget * Self.screeningShare else { return [] }
        func secondsLeft(_ track: GateTrack) -> Double {
            let needed = track.screenEffect.flatMap { $0.pairsToDecide(track.criterion.delta) } ?? looks.mostPairs
            return Double(max(1, needed - track.screen.count)) * track.secondsPerPair
        }
        let rest = open.filter { tracks[$0].screen.count < looks.mostPairs }
        return rest.min { secondsLeft(tracks[$0]) < secondsLeft(tracks[$1]) }.map { [$0] } ?? []
    }

    private mutating func assign(_ subject: Int, _ stage: PairRecord.Stage) -> Assignment {
        if orders[subject].isEmpty { orders[subject] = [true, true, false, false].shuffled(using: &random) }
        let isFirst = orders[subject].removeFirst()
        return Assignment(
            subject: subject, number: tracks[subject].attempts, stage: stage,
            // Neighbouring points begin with different sides.
            headFirst: plan.subjects[subject].points.indices.map { $0.isMultiple(of: 2) == isFirst },
            seed: random.next(), paddingBytes: Int.random(in: 0...4_096, using: &random))
    }

    // MARK: Stages

    private mutating func beginConfirming() {
        isConfirming = true
        for index in tracks.indices where tracks[index].isScreening {
            let track = tracks[index]
            let isHit = track.screenEffect.map { Screen.isHit($0, delta: track.criterion.delta) } ?? false
            tracks[index].state = isHit && track.criterion.worse != .neither ? .confirming : .screened
        }
        family = tracks.count { $0.isConfirming }
    }

    private mutating func look(_ index: Int) {
        let track = tracks[index]
        guard track.isConfirming, track.nextLook < looks.pairs.count,
            track.confirm.count >= looks.pairs[track.nextLook], let effect = track.confirmEffect
        else { return }
        switch looks.decide(effect, delta: track.criterion.delta, look: track.nextLook, family: family) {
        case .regressed:
            tracks[index].state = .confirmed
            family -= 1
        case .futile: tracks[index].state = .refuted
        case .goOn: tracks[index].nextLook += 1
        }
    }
}
