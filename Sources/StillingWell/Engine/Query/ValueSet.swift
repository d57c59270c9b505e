// The values of an `in` condition, prepared for testing many rows: a hash table of slots, or of bytes for texts, data
// and UUIDs. Immutable; any thread.
import Foundation

/// A set of values of one column. Equal to another set if the values are.
struct ValueSet: Sendable, Hashable {
    let values: Set<ColumnValue>
    private let table: Table

    /// O(bytes of all values).
    init(_ values: some Sequence<ColumnValue>) {
        self.values = Set(values)
        table = Table(self.values)
    }

    static func == (left: ValueSet, right: ValueSet) -> Bool { left.values == right.values }
    func hash(into hasher: inout Hasher) { hasher.combine(values) }

    /// The bytes of the only value, if it is a text or data.
    var onlyBytes: [UInt8]? { table.onlyBytes }

    /// Whether the value of a column is in the set. Expected O(1), and O(bytes of the value) for texts, data and UUIDs.
    @inline(__always)
    func contains(_ row: RowReader, _ column: Int, isOptional: Bool) -> Bool {
        if isOptional, row.isNull(column) { return table.hasNull }
        switch table.kind {
        case .slots: return table.contains(slot: row.slot(column))
        case .bools: return table.contains(slot: Bool._read(row, column) ? 1 : 0)
        case .numbers:
            let number = Double._read(row, column)
            // Both zeros are equal. NaN equals nothing, and is not in the table.
            return table.contains(slot: number == 0 ? 0 : number.bitPattern)
        case .bytes: return table.contains(row.bytes(column))
        case .uuids: return withUnsafeBytes(of: UUID._read(row, column).uuid) { table.contains($0) }
        case .none: return false
        }
    }

    /// An open-addressing hash table, at most a quarter full.
    private final class Table: Sendable {
        enum Kind { case none, slots, bools, numbers, bytes, uuids }

        let kind: Kind
        let hasNull: Bool
        /// Slots by their hashes. A place without one holds `empty`, which is not in the set.
        private let slots: [UInt64]
        private let empty: UInt64
        private let shift: UInt64
        /// Indexes into `entries` plus 1, by the hashes of their bytes. 0 is an empty place.
        private let places: [UInt32]
        private let entries: [(hash: UInt64, offset: Int, count: Int)]
        private let bytes: [UInt8]
        /// Lengths of the shortest and the longest entry.
        private let counts: ClosedRange<Int>

        init(_ values: Set<ColumnValue>) {
            hasNull = values.contains(.null)
            var (kind, keys, texts) = (Kind.none, [UInt64](), [[UInt8]]())
            func take(_ slot: UInt64, _ ofKind: Kind) {
                kind = ofKind
                keys.append(slot)
            }
            func take(_ number: Double) {
                kind = .numbers
                if !number.isNaN { keys.append(number == 0 ? 0 : number.bitPattern) }
            }
            func take(_ text: some Sequence<UInt8>) {
                kind = .bytes
                texts.append(Array(text))
            }
            // The values of a column are of one type, so they agree about `kind`.
            for value in values {
                switch value {
                case .null: break
                case .int(let value): take(UInt64(bitPattern: Int64(value)), .slots)
                case .link(let id): take(id.rawValue, .slots)
                case .bool(let value): take(value ? 1 : 0, .bools)
                case .double(let value): take(value)
                case .date(let value): take(value.timeIntervalSinceReferenceDate)
                case .string(let value): take(value.utf8)
                case .data(let value): take(value)
                case .uuid(let value):
                    withUnsafeBytes(of: value.uuid) { take($0) }
                    kind = .uuids
                }
            }
            self.kind = kind
            let bits = UInt64(max(2, Int.bitWidth - (4 * max(keys.count, texts.count)).leadingZeroBitCount))
            let size = 1 << Int(bits)
            shift = 64 - bits
            let known = Set(keys)
            // At least one of the first count + 1 numbers is not in the set.
            empty = (0...UInt64(known.count)).first { !known.contains($0) }!
            var slots = [UInt64](repeating: empty, count: keys.isEmpty ? 0 : size)
            for key in known {
                var place = Self.place(Self.mixed(key), shift)
                while slots[place] != empty { place = (place + 1) & (size - 1) }
                slots[place] = key
            }
            self.slots = slots
            var places = [UInt32](repeating: 0, count: texts.isEmpty ? 0 : size)
            var (entries, bytes) = ([(hash: UInt64, offset: Int, count: Int)](), [UInt8]())
            for text in Set(texts) {
                let hash = text.withUnsafeBytes { Self.hash($0) }
                entries.append((hash, bytes.count, text.count))
                bytes += text
                var place = Self.place(hash, shift)
                while places[place] != 0 { place = (place + 1) & (size - 1) }
                places[place] = UInt32(entries.count)
            }
            (self.places, self.entries, self.bytes) = (places, entries, bytes)
            let lengths = texts.map(\.count)
            counts = (lengths.min() ?? 0)...(lengths.max() ?? 0)
        }

        var onlyBytes: [UInt8]? { kind == .bytes && entries.count == 1 && !hasNull ? bytes : nil }

        @inline(__always)
        func contains(slot: UInt64) -> Bool {
            if slot == empty || slots.isEmpty { return false }
            return slots.withUnsafeBufferPointer { slots in
                var place = Self.place(Self.mixed(slot), shift)
                while slots[place] != empty {
                    if slots[place] == slot { return true }
                    place = (place &+ 1) & (slots.count &- 1)
                }
                return false
            }
        }

        func contains(_ value: UnsafeRawBufferPointer) -> Bool {
            guard counts.contains(value.count) else { return false }
            // The usual case of an equality: the only entry is compared at once.
            if entries.count == 1 { return isEntry(0, value) }
            let hash = Self.hash(value)
            var place = Self.place(hash, shift)
            while places[place] != 0 {
                let index = Int(places[place]) - 1
                if entries[index].hash == hash, isEntry(index, value) { return true }
                place = (place &+ 1) & (places.count &- 1)
            }
            return false
        }

        private func isEntry(_ index: Int, _ value: UnsafeRawBufferPointer) -> Bool {
            let entry = entries[index]
            return bytes.withUnsafeBytes {
                ByteEquality.isEqual(
                    value, UnsafeRawBufferPointer(rebasing: $0[entry.offset..<entry.offset + entry.count]))
            }
        }

        private static func place(_ hash: UInt64, _ shift: UInt64) -> Int { Int(hash &>> shift) }

        /// Spreads a slot over the upper bits (Fibonacci hashing: Knuth, The Art of Computer Programming, volume 3,
        /// section 6.4).
        @inline(__always)
        private static func mixed(_ slot: UInt64) -> UInt64 { slot &* 0x9E37_79B9_7F4A_7C15 }

        /// Hash of bytes, eight at a time.
        private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
            var hash = UInt64(bytes.count)
            var offset = 0
            while offset + 8 <= bytes.count {
                hash = mixed(hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                hash ^= hash &>> 32
                offset += 8
            }
            var rest: UInt64 = 0
            while offset < bytes.count {
                rest = rest &<< 8 | UInt64(bytes[offset])
                offset += 1
            }
            return mixed(hash ^ rest)
        }
    }
}

enum ByteEquality {
    /// Returns whether bytes are equal. Compares the last eight first, in which texts of one form mostly differ.
    @inline(__always)
    static func isEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count, let first = a.baseAddress, let second = b.baseAddress else {
            return a.isEmpty && b.isEmpty
        }
        if case let rest = a.count &- 8, rest >= 0 {
            guard (first + rest).loadUnaligned(as: UInt64.self) == (second + rest).loadUnaligned(as: UInt64.self)
            else { return false }
            return rest == 0 || memcmp(first, second, rest) == 0
        }
        return memcmp(first, second, a.count) == 0
    }
}
