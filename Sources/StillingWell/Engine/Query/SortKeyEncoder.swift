// Makes keys of a shared tree from rows: the bytes of SortKeyBytes.swift, in the order of a query.

/// Makes keys of one order from a table's rows. Immutable except for its buffer: one thread at a time.
struct SortKeyEncoder {
    private enum Fast {
        case unsorted
        /// One column of eight bytes, so that the key is a number.
        case int(column: Int, flip: UInt64)
        case double(column: Int, flip: UInt64)
    }

    /// Part of a key. Contains nothing reference-counted, because a loop over parts copies each.
    private enum Part {
        case column(KeyColumn)
        /// A column of a linked row, at the end of the link path `ways[way]`.
        case linked(KeyColumn, way: Int)
        /// Result of `sectionFunction` for the row.
        case section(isOptional: Bool, ascending: Bool)
        case id
    }

    private let parts: [Part]
    private let ways: [[Int]]
    private let sectionFunction: SectionFunction?
    private let fast: Fast?
    private var scratch = SortKeyBytes()

    /// Makes an encoder of base keys (TreeForm.swift). Without groups and sections, these are the columns of the order.
    init(_ key: TreeKey, _ table: TableSchema) {
        var ways: [[Int]] = []
        let section: [Part] =
            key.section.map { section in
                guard let function = section.function else { return [.column(KeyColumn(section.term, table))] }
                return [.section(isOptional: function.isOptional, ascending: section.term.ascending)]
            } ?? []
        let order = key.sort.map { term in
            guard let over = term.over else { return Part.column(KeyColumn(term, table)) }
            ways.append(over.links)
            return .linked(KeyColumn(term, table), way: ways.count - 1)
        }
        let group = key.distinct.map { Part.column(KeyColumn(SortTerm(column: $0, ascending: true), table)) }
        if group.isEmpty {
            parts = section + order
        } else {
            parts = group + order + (section.isEmpty ? [] : [.id] + section)
        }
        self.ways = ways
        sectionFunction = key.section?.function
        fast = Self.fast(parts)
    }

    private static func fast(_ parts: [Part]) -> Fast? {
        guard let first = parts.first else { return .unsorted }
        guard parts.count == 1, case .column(let column) = first, !column.isOptional else { return nil }
        let flip: UInt64 = column.ascending ? 0 : .max
        switch column.type {
        case .int: return .int(column: column.column, flip: flip)
        case .double, .date: return .double(column: column.column, flip: flip)
        default: return nil
        }
    }

    /// Whether keys are numbers of at most eight bytes.
    var isNumeric: Bool { fast != nil }

    /// - Parameter source: source of linked rows that the order reads.
    @inline(__always)
    mutating func key(_ row: RowReader, _ id: ObjectID, _ source: (any RowSource)?, _ links: TableLinks?) -> RankedKey {
        switch fast {
        case .unsorted: return RankedKey(prefix: 0, id: id.rawValue)
        case .int(let column, let flip):
            return RankedKey(prefix: SortKeyBytes.ordered(int: row.slot(column)) ^ flip, id: id.rawValue)
        case .double(let column, let flip):
            return RankedKey(prefix: SortKeyBytes.ordered(double: row.slot(column)) ^ flip, id: id.rawValue)
        case nil:
            var bytes = SortKeyBytes()
            swap(&bytes, &scratch)
            bytes.removeAll()
            append(row, id, source, links, to: &bytes)
            swap(&bytes, &scratch)
            return scratch.withBytes { RankedKey(bytes: $0, id: id.rawValue) }
        }
    }

    /// Appends the bytes of a row's key.
    /// - Parameter source: as for `key`.
    func append(
        _ row: RowReader, _ id: ObjectID, _ source: (any RowSource)?, _ links: TableLinks?, to key: inout SortKeyBytes
    ) {
        for part in parts {
            switch part {
            case .column(let column): key.append(row, column)
            case .linked(let column, let way):
                key.append(linked: source.flatMap { Reach.end(of: ways[way], from: row, links, $0)?.row }, column)
            case .section(let isOptional, let ascending):
                guard let sectionFunction else { continue }
                key.append(sectionFunction(row), isOptional: isOptional, ascending: ascending)
            case .id: key.append(id)
            }
        }
    }
}
