// How rows become keys of a shared tree: the bytes of SortKeyBytes.swift, put together in the order of a query.

/// How a table's rows become keys of one order. Immutable but for its scratch: one thread at a time.
struct SortKeyEncoder {
    private enum Fast {
        case unsorted
        /// One column of eight bytes: the key is a number.
        case int(column: Int, flip: UInt64)
        case double(column: Int, flip: UInt64)
    }

    /// What a key is put together from.
    private enum Part {
        case column(SortTerm, ColumnSchema)
        case linked(SortTerm, LinkedColumn)
        case section(SectionTerm, ColumnSchema)
        case id
    }

    private let parts: [Part]
    private let fast: Fast?
    /// Whether a key is made of other rows too.
    private let needsReach: Bool
    private var scratch = SortKeyBytes()

    /// Makes base keys (TreeForm.swift): without groups and sections, the columns of the order.
    init(_ key: TreeKey, _ table: TableSchema) {
        let section = key.section.map { [Part.section($0, table.columns[$0.term.column])] } ?? []
        let order = key.sort.map { term in
            term.over.map { Part.linked(term, $0) } ?? Part.column(term, table.columns[term.column])
        }
        let group = key.distinct.map { Part.column(SortTerm(column: $0, ascending: true), table.columns[$0]) }
        if group.isEmpty {
            parts = section + order
        } else {
            parts = group + order + (section.isEmpty ? [] : [.id] + section)
        }
        fast = Self.fast(parts)
        needsReach = key.sort.contains { $0.over != nil }
    }

    private static func fast(_ parts: [Part]) -> Fast? {
        guard let first = parts.first else { return .unsorted }
        guard parts.count == 1, case .column(let term, let column) = first, !column.isOptional else { return nil }
        let flip: UInt64 = term.ascending ? 0 : .max
        switch column.type {
        case .int: return .int(column: term.column, flip: flip)
        case .double, .date: return .double(column: term.column, flip: flip)
        default: return nil
        }
    }

    /// Whether keys are numbers, never longer than eight bytes.
    var isNumeric: Bool { fast != nil }

    /// - Parameter source: where other rows are read that the order goes by.
    @inline(__always)
    mutating func key(_ row: RowReader, _ id: ObjectID, _ source: (any RowSource)?, _ links: TableLinks?) -> RankedKey {
        switch fast {
        case .unsorted: return RankedKey(prefix: 0, id: id.rawValue)
        case .int(let column, let flip):
            return RankedKey(prefix: SortKeyBytes.ordered(int: row.slot(column)) ^ flip, id: id.rawValue)
        case .double(let column, let flip):
            return RankedKey(prefix: SortKeyBytes.ordered(double: row.slot(column)) ^ flip, id: id.rawValue)
        case nil:
            let reach = needsReach ? source.map { Reach(source: $0, links: links, id: id) } : nil
            scratch.removeAll()
            for part in parts {
                switch part {
                case .column(let term, let column): scratch.append(row, term, column)
                case .linked(let term, let column):
                    scratch.append(reach?.end(of: column.links, from: row), term, column)
                case .section(let section, let column): section.append(row, column, to: &scratch)
                case .id: scratch.append(id)
                }
            }
            return scratch.bytes.withUnsafeBytes { RankedKey(bytes: $0, id: id.rawValue) }
        }
    }
}
