// Chooses the next pair and decides by the pairs so far. A subject is a scenario on a driver; its gate is the figure
// that decides. The engine uses no process and no clock. The same plan, counts and records lead to the same choices, so
// a resumed comparison replays its journal. Pure.
import TidegaugeStatistics

public struct ComparisonEngine: Sendable {
    /// A pair to run.
    public struct Assignment: Sendable, Equatable {
        public var subject: Int
        public var number: Int
        public var stage: PairRecord.Stage
        /// Whether the head runs first, for each point.
        public var headFirst: [Bool]
        /// Seed of data and load, equal for both sides.
        public var seed: UInt64
        /// Bytes added to the environment of both sides. The start of the stack affects measurements (Mytkowicz et
        /// al., ASPLOS 2009), so it varies between pairs.
        public var paddingBytes: Int
    }

    /// Number of pairs that each gate in front (`isInFront`) gets before any gets more. With fewer pairs an effect has
    /// no upper bound and cannot be a hit.
    private static let fewestBudgetPairs = 5

    public let plan: ComparisonPlan
    public private(set) var tracks: [GateTrack]
    public let looks: Looks
    public private(set) var spentSeconds = 0.0
    private var queue: [Assignment] = []
    private var random: SplitMix64
    private var isConfirming = false
    /// Number of gates that share α: the chosen ones that are not red.
    private var family = 0
    /// Division of the budget; nil without a budget, or before every subject in front has had a pair.
    private var split: BudgetSplit?
    /// Whether the final decisions were made: the budget is spent, or no gate of a direct comparison wants more pairs.
    private var isSettled = false
    /// Order of the sides in the next pairs, per subject.
    private var orders: [[Bool]]
    /// Whether a subject is served first by a budget. Gates that counts already decide wait until all others are done.
    /// If counts decide all gates, all are in front.
    private let isInFront: [Bool]

    /// - Parameter counted: figures counted before the first pair.
    public init(_ plan: ComparisonPlan, counted: [CountedRow] = []) {
        self.plan = plan
        let tracks = plan.subjects.map { GateTrack($0, isTold: $0.isTold(by: counted)) }
        isInFront = tracks.map { track in !track.isTold || tracks.allSatisfy(\.isTold) }
        self.tracks = tracks
        looks = Looks(screenPairs: plan.pairs)
        random = SplitMix64(seed: plan.seed)
        orders = plan.subjects.map { _ in [] }
    }

    /// Returns the next pair. Nil if no subject needs one, the budget is spent, or only counts were requested.
    public mutating func next() -> Assignment? {
        if plan.isCountedOnly { return nil }
        // A round may stay incomplete, so that its time is left for confirmation.
        if isSettled || isScreeningOver { queue = [] }
        if queue.isEmpty { refill() }
        return queue.isEmpty ? nil : queue.removeFirst()
    }

    /// Adds the result of the pair that `next` returned last.
    public mutating func take(_ record: PairRecord) {
        spentSeconds += record.lengthSeconds
        tracks[record.subject].take(record, plan.rule, planned: plan.pairs)
        if isConfirming { look(record.subject) }
        if !tracks[record.subject].wantsPairs { queue.removeAll { $0.subject == record.subject } }
        if isConfirming, tracks[record.subject].isCutShort { lastLook([record.subject]) }
        let isAnyoneLeft = tracks.indices.contains { isInFront[$0] && tracks[$0].wantsPairs }
        if !hasTime || (split == .direct && !isAnyoneLeft) { settle() }
    }

    /// Estimated number of remaining pairs.
    public var pairsLeft: Int { tracks.reduce(queue.count) { $0 + pairsLeft($1) } }

    private func pairsLeft(_ track: GateTrack) -> Int {
        switch track.state {
        case .screening where !track.isCutShort: max(0, plan.pairs - track.screen.count)
        case .confirming where !track.isCutShort: max(0, looks.mostPairs - track.confirm.count)
        default: 0
        }
    }

    /// Estimated time of the remaining pairs, from past pairs, or the rest of the budget. Nil before any pair.
    public var secondsLeft: Double? {
        let known = tracks.filter { $0.attempts > 0 }
        guard let meanSeconds = mean(known.map(\.secondsPerPair)) else { return nil }
        let seconds = tracks.reduce(0.0) { sum, track in
            sum + Double(pairsLeft(track)) * (track.attempts > 0 ? track.secondsPerPair : meanSeconds)
        }
        // A budget is spent as long as anything is undecided.
        return plan.budgetSeconds.map { max(0, $0 - spentSeconds) } ?? seconds
    }

    private var hasTime: Bool { plan.budgetSeconds.map { spentSeconds < $0 } ?? true }

    /// Time for confirmation is reserved. Without candidates, screening continues while one gate could be confirmed.
    private var isScreeningOver: Bool {
        guard !isConfirming, let budget = plan.budgetSeconds else { return false }
        switch split {
        case nil: return spentSeconds >= budget * BudgetSplit.screeningShare
        case .direct: return false
        case .staged(let screenSeconds):
            guard spentSeconds >= screenSeconds else { return false }
            let longest = tracks.map(\.secondsPerPair).max() ?? 0
            return spentSeconds >= budget - BudgetSplit.pairsToConfirmOne * longest || !candidates().isEmpty
        }
    }

    private mutating func refill() {
        guard hasTime, !isSettled else { return }
        if !isConfirming {
            let due: [Int]
            if let budget = plan.budgetSeconds {
                due = isScreeningOver ? [] : dueInBudget(budget)
            } else {
                due = tracks.indices.filter { index in
                    tracks[index].isScreening && tracks[index].wantsPairs && tracks[index].screen.count < plan.pairs
                }
                .shuffled(using: &random)
            }
            if !due.isEmpty { return queue = due.map { assign($0, .screen) } }
            beginConfirming()
        }
        let due = tracks.indices.filter { tracks[$0].isConfirming && tracks[$0].wantsPairs }
        queue = due.shuffled(using: &random).map { assign($0, .confirm) }
        // Remaining time shows which gates are unchanged; none can become red by it.
        if queue.isEmpty, plan.budgetSeconds != nil, split != .direct {
            let open = tracks.indices.filter { tracks[$0].state == .screened && !tracks[$0].isCutShort }
            queue = mostUrgent(open).prefix(1).map { assign($0, .screen) }
        }
    }

    /// Returns the subjects to screen next. The budget is divided once every subject in front has had a pair.
    private mutating func dueInBudget(_ budget: Double) -> [Int] {
        let all = tracks.indices.filter { tracks[$0].isScreening && tracks[$0].wantsPairs }
        if split == nil, !all.contains(where: { isInFront[$0] && tracks[$0].attempts == 0 }) {
            split = BudgetSplit(
                budgetSeconds: budget, gates: judgedAtOnce.count,
                secondsPerPair: mean(tracks.filter { $0.attempts > 0 }.map(\.secondsPerPair)) ?? 0)
        }
        if split == .direct { return all.filter { isInFront[$0] }.shuffled(using: &random) }
        return mostUrgent(all)
    }

    /// Returns the subjects of the next pairs in order: a round or a single one. First a few rounds for all gates in
    /// front (`isInFront`), those that look worse first. Then gates whose estimate is above the threshold, clearest
    /// first. Then the gate that can be decided soonest. Afterwards the same for the other subjects.
    private mutating func mostUrgent(_ subjects: [Int]) -> [Int] {
        let undecided = subjects.filter { !tracks[$0].isDecided && tracks[$0].screen.count < looks.mostPairs }
        let front = undecided.filter { isInFront[$0] }
        let open = front.isEmpty ? undecided : front
        let untried = open.filter { tracks[$0].attempts == 0 }
        if !untried.isEmpty { return untried.shuffled(using: &random) }
        let new = open.filter { tracks[$0].screen.count < Self.fewestBudgetPairs }
        let suspects = clearest(new.isEmpty ? open : new) { effect, delta in effect.estimate > delta }
        if !new.isEmpty { return suspects + new.filter { !suspects.contains($0) }.shuffled(using: &random) }
        if let worst = suspects.first { return [worst] }
        func secondsLeft(_ track: GateTrack) -> Double {
            let figure = track.screened
            let needed = figure.effect.flatMap { $0.pairsToDecide(figure.criterion.delta) } ?? looks.mostPairs
            return Double(max(1, needed - track.screen.count)) * track.secondsPerPair
        }
        return open.min { secondsLeft(tracks[$0]) < secondsLeft(tracks[$1]) }.map { [$0] } ?? []
    }

    private mutating func assign(_ subject: Int, _ stage: PairRecord.Stage) -> Assignment {
        if orders[subject].isEmpty { orders[subject] = [true, true, false, false].shuffled(using: &random) }
        let isFirst = orders[subject].removeFirst()
        return Assignment(
            subject: subject, number: tracks[subject].attempts, stage: stage,
            // Adjacent points start with different sides.
            headFirst: plan.subjects[subject].points.indices.map { $0.isMultiple(of: 2) == isFirst },
            seed: random.next(), paddingBytes: Int.random(in: 0...4_096, using: &random))
    }

    // MARK: Stages

    private mutating func beginConfirming() {
        isConfirming = true
        var chosen = candidates()
        if plan.budgetSeconds != nil { chosen = affordable(chosen) }
        for index in tracks.indices where tracks[index].isScreening {
            if chosen.contains(index) { tracks[index].beginConfirming() } else { tracks[index].state = .screened }
        }
        family = chosen.count
    }

    /// Returns the gates that are worth confirming, clearest first.
    private func candidates() -> [Int] {
        let inBudget = plan.budgetSeconds != nil
        return clearest(tracks.indices.filter { tracks[$0].isScreening }) { effect, delta in
            inBudget ? Screen.isCandidate(effect, delta: delta) : Screen.isHit(effect, delta: delta)
        }
    }

    /// Returns the `subjects` that can be worse and whose effect satisfies `isWanted`, clearest first.
    private func clearest(_ subjects: some Sequence<Int>, _ isWanted: (PairedEffect, Double) -> Bool) -> [Int] {
        subjects.compactMap { index -> (index: Int, p: Double, size: Double)? in
            let figure = tracks[index].screened
            let delta = figure.criterion.delta
            guard figure.criterion.worse != .neither, let effect = figure.effect, isWanted(effect, delta) else {
                return nil
            }
            return (index, effect.pWorse, delta > 0 ? effect.estimate / delta : .infinity)
        }
        .sorted { ($0.p, $1.size, $0.index) < ($1.p, $0.size, $1.index) }.map(\.index)
    }

    /// Returns as many of the first candidates as the budget can bring to the minimum number of pairs. A family that
    /// is too large could confirm none.
    private func affordable(_ candidates: [Int]) -> [Int] {
        let left = plan.budgetSeconds.map { $0 - spentSeconds } ?? .infinity
        let count = (0...candidates.count).last { count in
            let seconds = candidates.prefix(count).reduce(0) { $0 + tracks[$1].secondsPerPair }
            return seconds * Double(Looks.fewestPairs(gates: count)) <= left
        }
        return Array(candidates.prefix(count ?? 0))
    }

    private mutating func look(_ index: Int) {
        let track = tracks[index]
        let figure = track.confirmed
        guard track.isConfirming, track.nextLook < looks.pairs.count,
            track.confirm.count >= looks.pairs[track.nextLook], let effect = figure.effect
        else { return }
        switch looks.decide(effect, delta: figure.criterion.delta, look: track.nextLook, family: family) {
        case .regressed:
            tracks[index].state = .confirmed
            family -= 1
        case .futile: tracks[index].state = .refuted
        case .goOn: tracks[index].nextLook += 1
        }
    }

    // MARK: An early end

    /// Gates that can be red, among the subjects in front.
    private var judgedAtOnce: [Int] {
        zip(tracks.indices, plan.subjects).filter { index, subject in
            isInFront[index] && Criterion(FigureName(subject.gate, subject.statistic)).worse != .neither
        }
        .map(\.0)
    }

    /// Makes the final decisions after the last pair.
    private mutating func settle() {
        guard !isSettled else { return }
        isSettled = true
        queue = []
        if isConfirming {
            lastLook(tracks.indices.filter { tracks[$0].isConfirming })
        } else if split == .direct {
            family = judgedAtOnce.count
            lastLook(judgedAtOnce.filter { tracks[$0].isScreening })
        }
    }

    /// Makes one more look with the remaining α, shared by Holm: a gate found red leaves its share to the others.
    private mutating func lastLook(_ meant: [Int]) {
        var open = meant.filter { tracks[$0].isConfirming || tracks[$0].isScreening }
        var isAnyCalled = true
        while isAnyCalled {
            isAnyCalled = false
            for index in open where isCalled(tracks[index]) {
                tracks[index].isDirect = tracks[index].isScreening
                tracks[index].state = .confirmed
                family -= 1
                open.removeAll { $0 == index }
                isAnyCalled = true
            }
        }
        for index in open where tracks[index].isConfirming {
            let figure = tracks[index].confirmed
            if figure.effect?.isUnder(figure.criterion.delta) ?? false { tracks[index].state = .refuted }
        }
    }

    private func isCalled(_ track: GateTrack) -> Bool {
        let figure = track.isConfirming ? track.confirmed : track.screened
        guard let effect = figure.effect else { return false }
        let alpha = Looks.rest(behind: track.nextLook) / Double(max(family, 1))
        return effect.pWorse < alpha && effect.estimate > figure.criterion.delta
    }
}
