// Queries of humans and dogs for the store and for the model, with the position of each row.
import StillingWell
import StillingWellFixtures

/// Sort position of a row in a view. nil orders first.
struct ModelPlace: Comparable {
    var number: Int?
    var text: String?
    var id: UInt64
    /// Value by which a distinct view selects rows.
    var group: String?

    static func < (a: ModelPlace, b: ModelPlace) -> Bool {
        if a.number != b.number { return a.number.map { x in b.number.map { x < $0 } ?? false } ?? true }
        if a.text != b.text { return a.text.map { x in b.text.map { x < $0 } ?? false } ?? true }
        return a.id < b.id
    }
}

/// A query for the store and for the model.
struct ModelView {
    let name: String
    let kinds: [ObservedKind]
    var limit: Int?
    /// Whether only the first row of each group is shown.
    var isDistinct = false
    /// Whether rows with equal numbers are a section.
    var isSectioned = false
    let isOfDogs: Bool
    /// Returns the position of a row, or nil if it is not in the view.
    let place: (UInt64, StoreRow, StoreState) -> ModelPlace?
    /// Humans that the position of a row depends on.
    let read: (StoreRow, StoreState) -> [UInt64]
    let observe: (Connection, ObservedKind, @escaping (ToldChanges?, [[UInt64]]) -> Void) throws -> NotificationToken
    /// Returns a function that reads the rows shown. It keeps one query, because another query may show other rows.
    let show: (Connection) throws -> () -> [[UInt64]]

    func rows(_ state: StoreState) -> [UInt64: StoreRow] { isOfDogs ? state.dogs : state.humans }

    func places(_ state: StoreState) -> [UInt64: ModelPlace] {
        var places: [UInt64: ModelPlace] = [:]
        for (id, row) in rows(state) { if let place = place(id, row, state) { places[id] = place } }
        return places
    }

    /// Returns the ids shown, in order, by section.
    func shown(_ places: some Sequence<ModelPlace>) -> [[UInt64]] {
        var rows = places.sorted()
        if isDistinct {
            var groups: Set<String?> = []
            rows = rows.filter { groups.insert($0.group).inserted }
        }
        if let limit { rows = Array(rows.prefix(limit)) }
        guard isSectioned else { return [rows.map(\.id)] }
        var sections: [[ModelPlace]] = []
        for row in rows {
            if sections.last?.last?.number != row.number || sections.isEmpty { sections.append([]) }
            sections[sections.count - 1].append(row)
        }
        return sections.map { $0.map(\.id) }
    }

    private static func told<Object: StoredObject>(
        _ change: ResultsChange<Object>, _ body: (ToldChanges?, [[UInt64]]) -> Void
    ) {
        switch change {
        case .initial(let results): body(nil, [results.objectIDs.map(\.rawValue)])
        case .update(let results, let changes): body(ToldChanges(changes), [results.objectIDs.map(\.rawValue)])
        case .error(let error): preconditionFailure("\(error)")
        }
    }

    private static func dogs(
        _ name: String, _ kinds: [ObservedKind], limit: Int? = nil, isDistinct: Bool = false,
        _ query: @escaping (Results<Dog>) -> Results<Dog>, read: Bool,
        _ place: @escaping (UInt64, StoreRow, StoreState) -> ModelPlace?
    ) -> ModelView {
        let live = { (connection: Connection) in
            let dogs = try query(connection.objects(Dog.self))
            return limit.map { dogs.limited(to: $0) } ?? dogs
        }
        return ModelView(
            name: name, kinds: kinds, limit: limit, isDistinct: isDistinct, isOfDogs: true, place: place,
            read: { row, _ in read ? row.link.map { [$0] } ?? [] : [] },
            observe: { connection, kind, body in
                let dogs = try live(connection)
                guard let paths = kind.dogPaths else { return try dogs.observe { told($0, body) } }
                return try dogs.observe(keyPaths: paths) { told($0, body) }
            },
            show: { connection in
                let dogs = try live(connection)
                return { [dogs.objectIDs.map(\.rawValue)] }
            })
    }

    private static func humans(
        _ name: String, _ kinds: [ObservedKind], _ live: @escaping (Results<Human>) -> Results<Human>, read: Bool,
        _ place: @escaping (UInt64, StoreRow, StoreState) -> ModelPlace?
    ) -> ModelView {
        ModelView(
            name: name, kinds: kinds, isOfDogs: false, place: place,
            read: { row, _ in read ? row.friends.map(\.value) : [] },
            observe: { connection, kind, body in
                let humans = try live(connection.objects(Human.self))
                guard let paths = kind.humanPaths else { return try humans.observe { told($0, body) } }
                return try humans.observe(keyPaths: paths) { told($0, body) }
            },
            show: { connection in
                let humans = try live(connection.objects(Human.self))
                return { [humans.objectIDs.map(\.rawValue)] }
            })
    }

    /// Used by one thread.
    nonisolated(unsafe) static let all = ofDogs + ofHumans + [sections]

    private typealias Place = (UInt64, StoreRow, StoreState) -> ModelPlace?

    private static var ofDogs: [ModelView] {
        let byKey: Place = { id, row, _ in ModelPlace(number: row.key, id: id) }
        let ofBreed: Place = { id, row, _ in row.name == "b" ? ModelPlace(id: id) : nil }
        let ofOld: Place = { id, row, state in
            (state.human(row.link)?.age ?? 0) > 50 ? ModelPlace(id: id) : nil
        }
        let byAge: Place = { id, row, state in ModelPlace(number: state.human(row.link)?.age, id: id) }
        let byOwner: Place = { id, row, state in
            row.name == "b" ? ModelPlace(text: state.human(row.link)?.name, id: id) : nil
        }
        return [
            dogs("dogs by id", [.everything, .breed, .nothing], { $0.sorted(by: \.id) }, read: false, byKey),
            dogs(
                "dogs of breed b", [.everything, .ownerName, .nothing], { $0.where(\.breed == "b") }, read: false,
                ofBreed),
            dogs(
                "dogs of the old", [.everything, .breed, .ownerName], { $0.where(\.owner!.age > 50) }, read: true,
                ofOld),
            dogs(
                "first dogs by owner's age", [.everything, .breed], limit: 3, { $0.sorted(by: \.owner?.age) },
                read: true, byAge),
            dogs(
                "dogs of breed b by owner's name", [.everything, .ownerName],
                { $0.where(\.breed == "b").sorted(by: \.owner?.name) }, read: true, byOwner),
            dogs(
                "first dog of each breed by -id", [.everything, .breed], limit: 2, isDistinct: true,
                { $0.sorted(by: \.id, ascending: false).distinct(by: [\.breed]) }, read: false
            ) { id, row, _ in ModelPlace(number: -row.key, id: id, group: row.name) },
            dogs(
                "first dog of each breed of the old", [.everything, .ownerName], isDistinct: true,
                { $0.where(\.owner!.age > 50).distinct(by: [\.breed]) }, read: true
            ) { id, row, state in
                (state.human(row.link)?.age ?? 0) > 50 ? ModelPlace(id: id, group: row.name) : nil
            },
        ]
    }

    /// Dogs of old owners, in sections by a function of their breed.
    private static var sections: ModelView {
        let key: @Sendable (String?) -> Int? = { breed in breed == "x" ? nil : breed.map { $0 == "a" ? 1 : 2 } }
        func live(_ connection: Connection) throws -> SectionedResults<Int?, Dog> {
            try connection.objects(Dog.self).where(\.owner!.age > 50).sectioned(by: \.breed, key)
        }
        func ids(_ sections: SectionedResults<Int?, Dog>) -> [[UInt64]] {
            sections.map { $0.objectIDs.map(\.rawValue) }
        }
        return ModelView(
            name: "sections of the old's dogs", kinds: [.everything], isSectioned: true, isOfDogs: true,
            place: { id, row, state in
                (state.human(row.link)?.age ?? 0) > 50 ? ModelPlace(number: key(row.name), id: id) : nil
            },
            read: { row, _ in row.link.map { [$0] } ?? [] },
            observe: { connection, _, body in
                try live(connection).observe { change in
                    switch change {
                    case .initial(let sections): body(nil, ids(sections))
                    case .update(let sections, let changes): body(ToldChanges(changes), ids(sections))
                    case .error(let error): preconditionFailure("\(error)")
                    }
                }
            },
            show: { connection in
                let sections = try live(connection)
                return { ids(sections) }
            })
    }

    private static var ofHumans: [ModelView] {
        let oldByName: Place = { id, row, _ in row.age > 50 ? ModelPlace(text: row.name, id: id) : nil }
        let withOld: Place = { id, row, state in
            row.friends.contains { state.humans[$0.value]!.age > 50 } ? ModelPlace(id: id) : nil
        }
        let range: Place = { id, row, _ in
            row.age > 20 && row.age < 80 ? ModelPlace(number: row.age, id: id) : nil
        }
        return [
            humans(
                "the old by name", [.everything, .name, .bossName, .nothing],
                { $0.where(\.age > 50).sorted(by: \.name) }, read: false, oldByName),
            humans(
                "names with b", [.everything, .name], { $0.where((\Human.name).hasPrefix("b")).sorted(by: \.name) },
                read: false
            ) { id, row, _ in row.name!.hasPrefix("b") ? ModelPlace(text: row.name, id: id) : nil },
            humans(
                "with old friends", [.everything, .name], { $0.where(.any(\.friends, \.age > 50)) }, read: true,
                withOld),
            humans(
                "a range of ages", [.everything, .name], { $0.where(\.age > 20 && \.age < 80).sorted(by: \.age) },
                read: false, range),
        ]
    }
}
