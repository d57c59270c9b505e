// Finds the filters that a changed row may affect. Each filter is indexed by conditions on one column: equality in a
// dictionary, a range in an interval index, others in a list that is always checked. The caller tests the whole filter.

import Foundation

/// Filters of one table, by handles 0 ..< n that the caller assigns and reuses. Used by one thread at a time.
struct QueryIndex {
    private enum Access {
        case equal(column: Int, [ColumnValue])
        case range(column: Int, low: UInt64, high: UInt64)
        case always
    }

    private let columns: [ColumnSchema]
    private var equalities: [Int: [ColumnValue: [Int]]] = [:]
    private var ranges: [Int: IntervalIndex] = [:]
    private var always: [Int] = []
    /// Last probe that found each handle, so that one found for both the old and the new row counts once.
    private var lastProbe: [UInt64] = []
    private var probe: UInt64 = 0
    /// Handles found for one row; kept for its memory.
    private var hits = HandleList()

    init(_ table: TableSchema) { columns = table.columns }

    mutating func insert(_ conditions: Set<FilterExpression>, handle: Int) {
        while lastProbe.count <= handle { lastProbe.append(0) }
        switch access(conditions) {
        case .equal(let column, let values):
            for value in values { equalities[column, default: [:]][value, default: []].append(handle) }
        case .range(let column, let low, let high):
            ranges[column, default: IntervalIndex()].insert(low, high, handle: handle)
        case .always: always.append(handle)
        }
    }

    mutating func remove(_ conditions: Set<FilterExpression>, handle: Int) {
        switch access(conditions) {
        case .equal(let column, let values):
            for value in values { equalities[column]?[value]?.removeAll { $0 == handle } }
            equalities[column] = equalities[column]?.filter { !$0.value.isEmpty }
            if equalities[column]?.isEmpty == true { equalities[column] = nil }
        case .range(let column, _, _):
            ranges[column]?.remove(handle: handle)
            if ranges[column]?.isEmpty == true { ranges[column] = nil }
        case .always: always.removeAll { $0 == handle }
        }
    }

    /// Indexed condition: equality, else a range, else none. The same set gives the same, so that `remove` finds it.
    private func access(_ conditions: Set<FilterExpression>) -> Access {
        var best: Access = .always
        var bestColumn = Int.max
        for condition in conditions {
            guard case .column(let column, let test, _) = condition, column < bestColumn, let values = test.values
            else { continue }
            (best, bestColumn) = (.equal(column: column, values), column)
        }
        if case .equal = best { return best }
        return rangeAccess(conditions) ?? .always
    }

    /// Narrowest interval that the conditions leave on the first column that they bound.
    private func rangeAccess(_ conditions: Set<FilterExpression>) -> Access? {
        var bounds: [Int: (low: UInt64, high: UInt64)] = [:]
        for condition in conditions {
            guard case .column(let column, let test, _) = condition else { continue }
            var bound = bounds[column] ?? (0, .max)
            if let prefix = test.prefix {
                // Texts with this prefix lie between the prefix followed by zeros and by ones.
                let low = prefix.withUnsafeBytes { Self.number($0) }
                let high = low | (prefix.count < 8 ? .max >> UInt64(8 * prefix.count) : 0)
                bound = (max(bound.low, low), min(bound.high, high))
            } else if let end = test.end, let number = Self.number(end.value) {
                if end.isUpper { bound.high = min(bound.high, number) } else { bound.low = max(bound.low, number) }
            } else {
                continue
            }
            bounds[column] = bound
        }
        return bounds.min { $0.key < $1.key }.map { .range(column: $0.key, low: $0.value.low, high: $0.value.high) }
    }

    /// Calls `body` once for each handle that is always checked, or whose indexed condition the old or new row meets.
    /// `body` must not change the index.
    mutating func forEachCandidate(_ old: RowReader?, _ new: RowReader?, _ body: (Int) -> Void) {
        for handle in always { body(handle) }
        guard !(equalities.isEmpty && ranges.isEmpty) else { return }
        probe += 1
        hits.removeAll()
        if let old { find(old) }
        if let new { find(new) }
        let (hits, probe) = (hits, probe)
        lastProbe.withUnsafeMutableBufferPointer { lastProbe in
            for index in 0..<hits.count where lastProbe[hits[index]] != probe {
                lastProbe[hits[index]] = probe
                body(hits[index])
            }
        }
    }

    /// Gathers the handles whose indexed condition a row meets.
    private mutating func find(_ row: RowReader) {
        for (column, byValue) in equalities {
            if let handles = byValue[row.value(column, columns[column])] { hits.append(handles) }
        }
        for (column, index) in ranges where !(columns[column].isOptional && row.isNull(column)) {
            guard let number = Self.number(row, column, columns[column].type) else { continue }
            index.append(containing: number, to: &hits)
        }
    }

    /// Place of a value in its column's order, reduced to 64 bits. Nil for null and types without indexed ranges.
    private static func number(_ value: ColumnValue) -> UInt64? {
        switch value {
        case .int(let value): SortKeyBytes.ordered(int: UInt64(bitPattern: Int64(value)))
        case .double(let value): SortKeyBytes.ordered(double: value.bitPattern)
        case .date(let value): SortKeyBytes.ordered(double: value.timeIntervalSinceReferenceDate.bitPattern)
        case .string(var value): value.withUTF8 { number(UnsafeRawBufferPointer($0)) }
        default: nil
        }
    }

    /// First eight bytes of a text as a big-endian number.
    private static func number(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<min(8, bytes.count) { number |= UInt64(bytes[index]) << UInt64(56 - 8 * index) }
        return number
    }

    private static func number(_ row: RowReader, _ column: Int, _ type: ColumnType) -> UInt64? {
        switch type {
        case .int: SortKeyBytes.ordered(int: row.slot(column))
        case .double, .date: SortKeyBytes.ordered(double: row.slot(column))
        case .string: number(row.bytes(column))
        default: nil
        }
    }
}

extension RowReader {
    /// Value of a column as a constant.
    func value(_ column: Int, _ schema: ColumnSchema) -> ColumnValue {
        if schema.isOptional, isNull(column) { return .null }
        return switch schema.type {
        case .int: .int(Int._read(self, column))
        case .double: .double(Double._read(self, column))
        case .bool: .bool(Bool._read(self, column))
        case .string: .string(String(decoding: bytes(column), as: UTF8.self))
        case .date: .date(Date._read(self, column))
        case .data: .data(Data(bytes(column)))
        case .uuid: .uuid(UUID._read(self, column))
        case .link: isNull(column) ? .null : .link(ObjectID(rawValue: slot(column)))
        // The slot counts changes, which is not a value; elements are in another table.
        case .list: .null
        }
    }

    /// Columns whose value differs from that in `other`, bit i for column i. For a list, its count of changes
    /// is compared.
    func columns(differingFrom other: RowReader, _ table: TableSchema) -> UInt64 {
        table.columns.withUnsafeBufferPointer { schemas in
            var columns: UInt64 = 0
            for index in schemas.indices
            where !hasSameBytes(index, isOutOfLine: schemas[index].type.isOutOfLine, as: other)
                && !hasSameLarge(index, schemas[index], as: other)
                && (schemas[index].type == .list
                    || value(index, schemas[index]) != other.value(index, schemas[index]))
            {
                columns |= 1 << UInt64(index)
            }
            return columns
        }
    }

    /// Whether a column is stored alike in both rows. Values that are stored differently may still be equal: both
    /// zeros, and large values.
    private func hasSameBytes(_ column: Int, isOutOfLine: Bool, as other: RowReader) -> Bool {
        guard column < columnCount, column < other.columnCount, isNull(column) == other.isNull(column) else {
            return false
        }
        let (slot, otherSlot) = (slot(column), other.slot(column))
        guard isOutOfLine else { return slot == otherSlot }
        if (slot | otherSlot) & LargeValue.mark != 0 { return false }
        let (bytes, otherBytes) = (bytes(column), other.bytes(column))
        guard bytes.count == otherBytes.count else { return false }
        return bytes.isEmpty || memcmp(bytes.baseAddress!, otherBytes.baseAddress!, bytes.count) == 0
    }

    /// Whether a column has the same large value in both rows, which can be told without reading it.
    private func hasSameLarge(_ column: Int, _ schema: ColumnSchema, as other: RowReader) -> Bool {
        guard schema.type.isOutOfLine, let value = largeValue(slot(column)) else { return false }
        return value == other.largeValue(other.slot(column))
    }
}
