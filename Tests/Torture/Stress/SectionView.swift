// An observer of sections. The change sets must lead to the sections shown.
import StillingWell
import StillingWellFixtures

/// Sectioned results without the type of their keys.
private struct SectionFace {
    let sections: () -> [[RowValue]]
    let row: (RowPath) -> RowValue
    let observe: (Bool, @escaping (SectionEvent) -> Void) throws -> NotificationToken

    init(_ results: Results<SmallRow>, _ rule: SectionRule) {
        switch rule {
        case .byGroup: self.init(results.sectioned(by: \.group))
        case .byGroupDescending: self.init(results.sectioned(by: \.group, ascending: false))
        case .byIsDone: self.init(results.sectioned(by: \.isDone))
        case .byBand: self.init(results.sectioned(by: \.score) { $0 / SectionRule.bandWidth })
        }
    }

    private init<Key: StorableValue>(_ sections: SectionedResults<Key, SmallRow>) {
        self.sections = { sections.map { $0.map { RowValue($0) } } }
        row = { RowValue(sections[$0]) }
        observe = { isShallow, body in
            func told(_ change: SectionedResultsChange<Key, SmallRow>) {
                switch change {
                case .initial: body(.initial)
                case .update(_, let changes): body(.update(changes))
                case .error(let error): body(.failed(error))
                }
            }
            return isShallow ? try sections.observe(keyPaths: [], told) : try sections.observe(told)
        }
    }
}

private enum SectionEvent {
    case initial
    case update(SectionedChangeSet)
    case failed(StoreError)
}

final class SectionView: Observer, @unchecked Sendable {
    private let query: Query
    private let rule: SectionRule
    private let isShallow: Bool
    private let face: SectionFace
    private var kept: [[RowValue]]?

    /// Subscribes. Must be called on the site's delivery context. `query` must be for small rows.
    init(
        _ name: String, _ query: Query, _ rule: SectionRule, isShallow: Bool, _ site: Site, _ connection: Connection
    ) throws {
        self.query = query
        self.rule = rule
        self.isShallow = isShallow
        face = SectionFace(try query.results(SmallRow.self, connection), rule)
        super.init(name, site)
        keep(try face.observe(isShallow) { [self] event in called { told(event, $0) } })
    }

    override var description: String { "\(super.description): sections \(rule) of \(query)" }
    override var hasBegun: Bool { kept != nil }

    private func told(_ event: SectionEvent, _ connection: Connection) {
        switch event {
        case .failed(let error): load.verdict.report(.noError, description, "\(error)")
        case .initial:
            load.tally.initials.add()
            load.verdict.expect(.i1, kept == nil, description, "a second initial callback")
            kept = face.sections()
        case .update(let changes):
            expectLaterVersion(connection)
            site.expectMayAdvance(self)
            load.tally.count(.sections)
            let before = kept
            let problem = follow(changes)
            load.verdict.expectNone(
                .i1, problem.map { "\($0)\n\(changes)\nversion \(connection.version), before: \(before ?? [])" },
                description)
            guard problem == nil else { return }
        }
        if let rows = site.rows(.small, connection) { check(rows, .i2, connection.version) }
    }

    private func follow(_ changes: SectionedChangeSet) -> String? {
        guard kept != nil else { return "an update before the initial callback" }
        if isShallow, let path = changes.modifications.first { return "row \(path) is modified, and none is wanted" }
        return ChangeSetReplay.apply(ToldChanges(changes), to: &kept!, id: \.id, row: face.row)
    }

    private func check(_ rows: [RowValue], _ invariant: Invariant, _ version: UInt64) {
        let found = query.evaluate(rows)
        let keys = Set(found.map(rule.key)).sorted()
        let expected = keys.map { key in found.filter { rule.key($0) == key } }
        func difference(_ name: String, _ sections: [[RowValue]]) -> String? {
            let known = sections.map { $0.map { isShallow ? $0.only([]) : $0 } }
            let wanted = expected.map { $0.map { isShallow ? $0.only([]) : $0 } }
            return Difference.first(name, known, "from scratch", wanted, { "\($0)" }).map {
                "\($0)\nversion \(version)"
            }
        }
        load.verdict.expectNone(invariant, difference("shown", face.sections()), description)
        load.verdict.expectNone(.i1, difference("told", kept ?? []), description)
    }

    override func checkAtRest(_ connection: Connection) {
        load.verdict.expect(.i6, kept != nil, description, "the initial callback never came")
        if let rows = site.rows(.small, connection) { check(rows, .i6, connection.version) }
    }
}
