// Classes, properties and values of a random walk of schemas: the models that a program would declare, and the expected
// rows after each change.
import Foundation

@testable import StillingWell

/// Type of a property.
enum WalkKind: Equatable {
    case int, text, optionalInt, optionalText, ints, texts
    case link(String), links(String)

    /// The class that the property refers to.
    var target: String? {
        switch self {
        case .link(let name), .links(let name): name
        default: nil
        }
    }

    var isOptional: Bool { self == .optionalInt || self == .optionalText }

    /// The same type with the opposite optionality. nil if there is no such type.
    var toggled: WalkKind? {
        switch self {
        case .int: .optionalInt
        case .optionalInt: .int
        case .text: .optionalText
        case .optionalText: .text
        default: nil
        }
    }

    /// Whether a property of this type takes over the values of a hidden property of the type `other`.
    func keepsValues(of other: WalkKind) -> Bool { self == other || toggled == other }

    /// Value of rows without one.
    var empty: WalkValue {
        switch self {
        case .int: .int(0)
        case .text: .text("")
        case .optionalInt, .optionalText, .link: .none
        case .ints: .ints([])
        case .texts: .texts([])
        case .links: .links([])
        }
    }

    func column(_ name: String, isIndexed: Bool) -> ColumnSchema {
        switch self {
        case .int, .optionalInt: ColumnSchema(name: name, type: .int, isOptional: isOptional, isIndexed: isIndexed)
        case .text, .optionalText:
            ColumnSchema(name: name, type: .string, isOptional: isOptional, isIndexed: isIndexed)
        case .link(let target):
            ColumnSchema(name: name, type: .link, isOptional: true, target: target, isIndexed: true)
        case .ints, .texts, .links: ColumnSchema(name: name, type: .list, isOptional: false, target: target)
        }
    }

    /// Column of the elements of a list.
    var element: ColumnSchema? {
        switch self {
        case .ints: ColumnSchema(name: "value", type: .int, isOptional: false)
        case .texts: ColumnSchema(name: "value", type: .string, isOptional: false)
        case .links(let target):
            ColumnSchema(name: "value", type: .link, isOptional: true, target: target, isIndexed: true)
        default: nil
        }
    }
}

enum WalkValue: Equatable {
    case none, int(Int), text(String), link(UInt64), ints([Int]), texts([String]), links([UInt64])

    /// Writes to the row what it stores of the value itself: for a list, zero.
    func write(_ row: RowBuffer, _ column: Int) {
        switch self {
        case .none: row.setNull(column)
        case .int(let value): value._write(row, column)
        case .text(let value): value._write(row, column)
        case .link(let id): row.setSlot(column, id)
        case .ints, .texts, .links: row.setSlot(column, 0)
        }
    }

    /// Writers of the elements of a list.
    var elements: [(RowBuffer) -> Void] {
        switch self {
        case .ints(let values): values.map { value in { value._write($0, ListTable.value) } }
        case .texts(let values): values.map { value in { value._write($0, ListTable.value) } }
        case .links(let ids): ids.map { id in { $0.setSlot(ListTable.value, id) } }
        default: []
        }
    }
}

/// A property. Its number identifies its values as long as they are kept.
struct WalkProperty {
    let number: Int
    var name: String
    var kind: WalkKind
    var isIndexed = false
    var isKey = false
    /// Whether the property was optional and plain in turn. Old rows then do not distinguish zero from nil.
    var wasPlain = false
    /// Value of new objects.
    var initial: WalkValue

    /// Returns a value in the form in which it is compared.
    func shown(_ value: WalkValue) -> WalkValue {
        let isZero = value == .int(0) || value == .text("")
        return value == .none || wasPlain && isZero ? kind.empty : value
    }
}

struct WalkClass {
    let name: String
    /// Properties of the model. For a class that is no model, the properties that the file shows.
    var properties: [WalkProperty] = []
    /// Properties whose values are restored if one with their name, and a type that `keepsValues`, is declared.
    var hidden: [String: WalkProperty] = [:]
    /// Rows by object id, then values by property number.
    var rows: [UInt64: [Int: WalkValue]] = [:]
    var isModel = true
    /// Whether the class was no model while others were. Its links and lists may then refer to deleted objects.
    var wasAbsent = false

    /// Removes a property whose values are lost.
    mutating func forget(_ name: String) {
        properties.removeAll { $0.name == name }
        hidden[name] = nil
    }

    mutating func hide(_ name: String) {
        for property in properties where property.name == name { hidden[name] = property }
        properties.removeAll { $0.name == name }
    }

    func value(_ id: UInt64, _ property: WalkProperty) -> WalkValue {
        property.shown(rows[id]?[property.number] ?? property.kind.empty)
    }
}

/// Content of a store by class, object and property.
typealias WalkContent = [String: [UInt64: [String: WalkValue]]]

struct WalkModel {
    var classes: [String: WalkClass] = [:]

    var models: [WalkClass] { classes.values.filter(\.isModel).sorted { $0.name < $1.name } }

    /// Content without links to deleted objects.
    var content: WalkContent {
        var content: WalkContent = [:]
        for model in models {
            content[model.name] = model.rows.keys.reduce(into: [:]) { rows, id in
                rows[id] = Dictionary(
                    uniqueKeysWithValues: model.properties.map { ($0.name, existing(model.value(id, $0), $0.kind)) })
            }
        }
        return content
    }

    /// Returns a value without links to deleted objects.
    func existing(_ value: WalkValue, _ kind: WalkKind) -> WalkValue {
        let rows = kind.target.flatMap { classes[$0]?.rows } ?? [:]
        switch value {
        case .link(let id): return rows[id] == nil ? .none : value
        case .links(let ids): return .links(ids.filter { rows[$0] != nil })
        default: return value
        }
    }

    /// Removes a class, and every property that refers to it, for good.
    mutating func delete(_ name: String) {
        classes[name] = nil
        for other in classes.keys {
            let all = classes[other]!.properties + classes[other]!.hidden.values
            for property in all where property.kind.target == name { classes[other]!.forget(property.name) }
        }
    }

    // MARK: Declarations

    /// Classes of a program are known by their types, which a random class has not.
    nonisolated(unsafe) private static let types: [String: NSObject] = Dictionary(
        uniqueKeysWithValues: WalkModel.names.map { ($0, NSObject()) })
    static let names = ["A", "B", "C", "D"]

    private static func type(_ name: String) -> ModelDeclaration.Class { (ObjectIdentifier(types[name]!), name) }

    var declarations: [ModelDeclaration] { models.map(Self.declaration) }

    private static func declaration(_ model: WalkClass) -> ModelDeclaration {
        let initial = model.properties.map(\.initial)
        return ModelDeclaration(
            model: type(model.name),
            columns: model.properties.map { $0.kind.column($0.name, isIndexed: $0.isIndexed) },
            targets: model.properties.map { $0.kind.target.map(type) },
            primaryKeys: model.properties.indices.filter { model.properties[$0].isKey },
            elements: model.properties.enumerated().compactMap { place, property in
                property.kind.element.map { (place, $0) }
            },
            isObservable: { false }
        ) { row in
            row.reset(columnCount: initial.count)
            for (column, value) in initial.enumerated() { value.write(row, column) }
        }
    }
}
