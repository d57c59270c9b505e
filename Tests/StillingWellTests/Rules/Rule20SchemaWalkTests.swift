// Rule 20 with random walks of schemas. After every change the store is opened again, verified and salvaged.
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Rule 20: random walks of schemas", .timeLimit(.minutes(30)))
struct Rule20SchemaWalkTests {
    /// Number of walks (TIDEGAUGE_SCHEMA_WALKS; default 12), of eight changes each.
    private static let walks = ProcessInfo.processInfo.environment["TIDEGAUGE_SCHEMA_WALKS"].flatMap { Int($0) } ?? 12

    @Test("no random sequence of schemas is refused, or loses or damages data")
    func walks() throws {
        for round in 0..<Self.walks {
            let seed = SeededRandom.base &+ UInt64(round)
            var walk = SchemaWalk(seed: seed)
            defer { walk.remove() }
            do {
                for _ in 0..<8 { try walk.change() }
            } catch {
                Issue.record("TIDEGAUGE_SEED=\(seed): \(error)\n\(walk.history.joined(separator: "\n"))")
            }
        }
    }
}

/// A sequence of changes to one file.
private struct SchemaWalk {
    private let state: WalkState
    private var model: WalkModel {
        get { state.model }
        nonmutating _modify { yield &state.model }
    }
    private var random: SeededRandom {
        get { state.random }
        nonmutating _modify { yield &state.random }
    }
    private let folder = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
    private var path: String
    private var version: UInt64 = 0
    private(set) var history: [String] = []

    init(seed: UInt64) {
        state = WalkState(SeededRandom(seed: seed))
        path = folder + "/0"
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    // MARK: One change

    /// Changes the models, opens the store with them, writes to it, and checks the closed file.
    mutating func change() throws {
        let before = model
        let isAdditive =
            model.classes.isEmpty ? change(.addClass) : change(Change.allCases[random.below(Change.allCases.count)])
        let renamed = renames
        renames = []
        let isRaised = !isAdditive || random.oneIn(2)
        if isRaised { version += 1 }
        history.append(
            "version \(version): \(model.models.map { "\($0.name) \($0.properties.map { "\($0.name): \($0.kind)" })" })"
        )
        let deleted = Set(before.classes.keys).subtracting(model.classes.keys)
        let block: @Sendable (Migration) throws -> Void = { [state] in try state.migrate($0, renamed, deleted) }
        do {
            let store = try WalkStore(path, model, version: version, isRaised ? block : nil)
            try check(store, "after the migration")
            try store.write(state.write)
            try check(store, "after a write")
        }
        try checkFile()
    }

    private func check(_ store: WalkStore, _ time: String) throws {
        let (found, expected) = (try store.content(for: model), model.content)
        if found != expected { throw Difference(time: time, found: found, expected: expected) }
    }

    /// Opens the closed store, verifies it, and opens a salvaged copy.
    private mutating func checkFile() throws {
        try check(try WalkStore(path, model, version: version), "opened again")
        let report = try Store.verify(path: path)
        if !report.isWhole { throw Damage(damage: report.damage) }
        let other = folder + "/\(history.count)"
        try Store.salvage(path: path, to: other)
        let salvaged = try Store.verify(path: other)
        if !salvaged.isWhole { throw Damage(damage: salvaged.damage) }
        try check(try WalkStore(other, model, version: version), "salvaged")
        // The walk continues with either file.
        if random.oneIn(3) { path = other }
    }

    // MARK: Changes of models

    private enum Change: CaseIterable {
        case addProperty, removeProperty, bringBack, rename, retype, toggle, index, deleteTable, dropClass, addClass
    }

    private var renames: [(table: String, from: String, to: String)] = []

    /// - Returns: whether the change needs no higher version.
    private mutating func change(_ change: Change) -> Bool {
        history.append("\(change)")
        let models = model.models
        let name = models.isEmpty ? "" : models[random.below(models.count)].name
        let properties = model.classes[name]?.properties ?? []
        let property = properties.isEmpty ? nil : properties[random.below(properties.count)]
        switch change {
        case .addClass: return addClass()
        case .addProperty:
            add(property: newName(in: name), to: name, kind())
            return true
        case .bringBack:
            guard let hidden = model.classes[name]?.hidden.values.sorted(by: { $0.name < $1.name }).first else { break }
            let target = hidden.kind.target.map { model.classes[$0]?.isModel == true } ?? true
            add(property: hidden.name, to: name, target && !random.oneIn(4) ? hidden.kind : kind())
            // The element type may have changed, or an optional may have become a plain type.
            return false
        case .removeProperty:
            guard properties.count > 1, let property, !property.isKey else { break }
            model.classes[name]!.hide(property.name)
        case .rename:
            guard let property else { break }
            // In two of three cases, takes the name of a hidden property, if there is one.
            let hidden = model.classes[name]!.hidden.keys.sorted().first
            let new = hidden.flatMap { random.oneIn(3) ? nil : $0 } ?? newName(in: name)
            renames.append((name, property.name, new))
            model.classes[name]!.hidden[new] = nil
            for index in properties.indices where properties[index].name == property.name {
                model.classes[name]!.properties[index].name = new
            }
        case .retype:
            guard let property, !property.isKey else { break }
            model.classes[name]!.hide(property.name)
            add(property: property.name, to: name, kind())
        case .toggle:
            for index in properties.indices where properties[index].name == property?.name && !properties[index].isKey {
                guard let kind = properties[index].kind.toggled else { continue }
                model.classes[name]!.properties[index].kind = kind
                model.classes[name]!.properties[index].initial = kind.empty
                model.classes[name]!.properties[index].wasPlain = true
            }
        case .index:
            for index in properties.indices where properties[index].name == property?.name {
                model.classes[name]!.properties[index].isIndexed.toggle()
            }
            return true
        case .deleteTable:
            let all = model.classes.keys.sorted()
            let gone = all[random.below(all.count)]
            guard models.contains(where: { $0.name != gone }) else { break }
            leave(gone)
            model.delete(gone)
        case .dropClass: if models.count > 1 { leave(name) }
        }
        return false
    }

    /// Removes a class from the models, and the properties that refer to it from the others.
    private mutating func leave(_ name: String) {
        model.classes[name]?.isModel = false
        model.classes[name]?.wasAbsent = true
        for other in model.models {
            for property in other.properties where property.kind.target == name {
                model.classes[other.name]!.hide(property.name)
            }
            if model.classes[other.name]!.properties.isEmpty {
                add(property: newName(in: other.name), to: other.name, .int)
            }
        }
    }

    /// - Returns: whether the change needs no higher version.
    private mutating func addClass() -> Bool {
        let free = WalkModel.names.filter { model.classes[$0]?.isModel != true }
        guard !free.isEmpty else { return true }
        let name = free[random.below(free.count)]
        if model.classes[name] != nil {
            model.classes[name]!.isModel = true
            for property in model.classes[name]!.properties {
                let target = property.kind.target.map { model.classes[$0]?.isModel == true } ?? true
                if !target || random.oneIn(4), !property.isKey { model.classes[name]!.hide(property.name) }
            }
            if model.classes[name]!.properties.isEmpty { add(property: newName(in: name), to: name, .text) }
            return false
        }
        model.classes[name] = WalkClass(name: name)
        if random.oneIn(2) {
            model.classes[name]!.properties = [
                WalkProperty(number: takeNumber(), name: "key", kind: .int, isKey: true, initial: .int(0))
            ]
        }
        for _ in 0...random.below(4) { add(property: newName(in: name), to: name, kind()) }
        return true
    }

    private mutating func takeNumber() -> Int {
        state.made += 1
        return state.made
    }

    /// Returns a name that no visible property has.
    private mutating func newName(in name: String) -> String {
        let taken = model.classes[name]?.properties.map(\.name) ?? []
        let free = ["a", "b", "c", "d", "e", "f", "g", "h"].filter { !taken.contains($0) }
        return free.isEmpty ? "p\(takeNumber())" : free[random.below(free.count)]
    }

    private mutating func kind() -> WalkKind {
        let models = model.models.map(\.name)
        let target = models[random.below(models.count)]
        let kinds: [WalkKind] = [
            .int, .text, .optionalInt, .optionalText, .ints, .texts, .link(target), .links(target), .links(target),
        ]
        return kinds[random.below(kinds.count)]
    }

    /// Adds a property. It has the values of a hidden property with its name and a type whose values it keeps.
    private mutating func add(property name: String, to table: String, _ kind: WalkKind) {
        var property = WalkProperty(number: takeNumber(), name: name, kind: kind, initial: kind.empty)
        property.isIndexed = random.oneIn(3) && [.int, .text, .optionalInt, .optionalText].contains(kind)
        if random.oneIn(2) {
            switch kind {
            case .int, .optionalInt: property.initial = .int(7)
            case .text, .optionalText: property.initial = .text("seven")
            default: break
            }
        }
        if let hidden = model.classes[table]?.hidden.removeValue(forKey: name), kind.keepsValues(of: hidden.kind) {
            property = WalkProperty(
                number: hidden.number, name: name, kind: kind, isIndexed: property.isIndexed,
                wasPlain: hidden.wasPlain || kind != hidden.kind, initial: property.initial)
        } else {
            for id in model.classes[table]!.rows.keys {
                model.classes[table]!.rows[id]![property.number] = property.initial
            }
        }
        model.classes[table]!.properties.insert(
            property, at: random.below(model.classes[table]!.properties.count + 1))
    }
}

/// The models and rows of a walk, as migrations and writes change them.
///
/// Unchecked because one thread has it: a migration block runs on the thread that opens the store.
private final class WalkState: @unchecked Sendable {
    var model = WalkModel()
    var random: SeededRandom
    /// The last number used.
    var made = 0

    init(_ random: SeededRandom) { self.random = random }

    private func value(_ kind: WalkKind) -> WalkValue {
        let targets = kind.target.flatMap { model.classes[$0]?.rows.keys.sorted() } ?? []
        func link() -> UInt64? { targets.isEmpty ? nil : targets[random.below(targets.count)] }
        let (number, text) = (random.below(50), ["", "x", "y", String(repeating: "z", count: 1_500)][random.below(4)])
        switch kind {
        case .int: return .int(number)
        case .text: return .text(text)
        case .optionalInt: return number < 20 ? .none : .int(number)
        case .optionalText: return number < 20 ? .none : .text(text)
        case .ints: return .ints((0..<random.below(3)).map { $0 + number })
        case .texts: return .texts((0..<random.below(3)).map { "\(number)-\($0)" + text })
        case .link: return link().map { .link($0) } ?? .none
        case .links: return .links((0..<random.below(4)).compactMap { _ in link() })
        }
    }

    /// Returns the values of a new object, or of some properties of an existing one.
    private func values(_ name: String, isNew: Bool) -> [WalkProperty: WalkValue] {
        var values: [WalkProperty: WalkValue] = [:]
        for property in model.classes[name]!.properties {
            if property.isKey {
                made += 1
                if isNew { values[property] = .int(made) }
            } else if isNew || random.oneIn(3) {
                values[property] = value(property.kind)
            }
        }
        return values
    }

    private func someRow(_ name: String) -> UInt64? {
        let ids = model.classes[name]!.rows.keys.sorted()
        return ids.isEmpty ? nil : ids[random.below(ids.count)]
    }

    /// Runs a migration: renames first. Then it deletes tables, and enumerates, adds and deletes rows, in random order.
    func migrate(
        _ migration: Migration, _ renames: [(table: String, from: String, to: String)], _ deleted: Set<String>
    ) throws {
        for rename in renames { try migration.renameProperty(on: rename.table, from: rename.from, to: rename.to) }
        var steps: [() throws -> Void] = deleted.sorted().map { name in { try migration.deleteTable(name) } }
        for (name, found) in model.classes.sorted(by: { $0.key < $1.key }) {
            if migration.tables.contains(name), random.oneIn(2) {
                steps.append {
                    try migration.enumerate(name) { _, row in
                        if found.isModel { self.set(row, self.values(name, isNew: false)) }
                    }
                }
                steps.append {
                    guard let id = self.someRow(name) else { return }
                    try migration.delete(MigrationReference(table: name, id: id))
                    self.model.classes[name]!.rows[id] = nil
                }
            }
            guard found.isModel else { continue }
            steps.append {
                try migration.create(name) { row in
                    self.model.classes[name]!.rows[row.reference.id] = [:]
                    self.set(row, self.values(name, isNew: true))
                }
            }
        }
        steps.shuffle(using: &random)
        for step in steps { try step() }
    }

    private func set(_ row: MigrationRow, _ values: [WalkProperty: WalkValue]) {
        let reference = row.reference
        for (property, value) in values {
            model.classes[reference.table]!.rows[reference.id]![property.number] = value
            switch (property.kind, value) {
            case (.link(let target), .link(let id)):
                row[link: property.name] = MigrationReference(table: target, id: id)
            case (.link, _): row[link: property.name] = nil
            case (.links(let target), .links(let ids)):
                row[links: property.name] = ids.map { MigrationReference(table: target, id: $0) }
            case (_, .ints(let values)): row[values: property.name] = values
            case (_, .texts(let values)): row[values: property.name] = values
            case (_, .int(let value)): row[property.name] = value
            case (_, .text(let value)): row[property.name] = value
            default: row[property.name] = nil
            }
        }
    }

    /// Adds one or two objects of each class, and deletes one of some classes.
    func write(_ write: WalkWrite) throws {
        for found in model.models {
            for _ in 0...random.below(2) {
                let values = values(found.name, isNew: true)
                let id = try write.insert(
                    found, Dictionary(uniqueKeysWithValues: values.map { ($0.key.name, $0.value) }))
                model.classes[found.name]!.rows[id] = Dictionary(
                    uniqueKeysWithValues: values.map { ($0.key.number, $0.value) })
            }
            guard model.classes[found.name]!.rows.count > 3, random.oneIn(2), let id = someRow(found.name) else {
                continue
            }
            try write.delete(found, id)
            model.classes[found.name]!.rows[id] = nil
        }
    }
}

extension WalkProperty: Hashable {
    static func == (left: WalkProperty, right: WalkProperty) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

private struct Difference: Error {
    let time: String
    let found: WalkContent
    let expected: WalkContent
}

private struct Damage: Error {
    let damage: [String]
}
