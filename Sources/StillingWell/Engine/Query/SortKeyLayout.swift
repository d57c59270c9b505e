// Parts of sort-key bytes, so that the values of the first columns can be found and decoded. The encoding is in
// SortKeyBytes.swift.
import Foundation

/// Layout of the first parts of keys. Immutable.
struct SortKeyLayout: Sendable, Hashable {
    struct Part: Sendable, Hashable {
        var type: ColumnType
        var isOptional: Bool
        var ascending: Bool
    }

    let parts: [Part]
    /// Prefix of keys that contains the parts.
    let prefix: SortKeyPrefix

    init(_ parts: [Part]) {
        self.parts = parts
        prefix = SortKeyPrefix(parts.map(\.prefix))
    }

    init(_ terms: [SortTerm], _ table: TableSchema) {
        self.init(
            terms.map { term in
                // A path that ends early is null.
                if let over = term.over { return Part(type: over.type, isOptional: true, ascending: term.ascending) }
                let column = table.columns[term.column]
                return Part(type: column.type, isOptional: column.isOptional, ascending: term.ascending)
            })
    }

    /// Decodes the values of the parts. Minus zero reads as zero.
    func values(in bytes: ArraySlice<UInt8>) -> [ColumnValue] {
        var rest = bytes
        return parts.map { part in
            let length = part.prefix.length(in: rest)
            defer { rest = rest.dropFirst(length) }
            return part.value(rest.prefix(length))
        }
    }
}

extension SortKeyLayout.Part {
    fileprivate var prefix: SortKeyPrefix.Part {
        let width: Int? =
            switch type {
            case .int, .double, .date, .link, .list: 8
            case .bool: 1
            case .uuid: 16
            case .string, .data: nil
            }
        return SortKeyPrefix.Part(width: width, isOptional: isOptional, ascending: ascending)
    }

    fileprivate func value(_ bytes: ArraySlice<UInt8>) -> ColumnValue {
        var plain = bytes.map { $0 ^ prefix.mask }
        if isOptional, plain.removeFirst() == 0 { return .null }
        switch type {
        case .int, .list: return .int(Int(bitPattern: UInt(number(plain) ^ 1 << 63)))
        case .link: return .link(ObjectID(rawValue: number(plain)))
        case .double: return .double(floating(plain))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: floating(plain)))
        case .bool: return .bool(plain[0] != 0)
        case .string: return .string(String(decoding: text(plain), as: UTF8.self))
        case .data: return .data(Data(text(plain)))
        case .uuid: return .uuid(UUID(uuid: plain.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        }
    }

    private func number(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private func floating(_ bytes: [UInt8]) -> Double {
        let ordered = number(bytes)
        return Double(bitPattern: ordered >> 63 == 1 ? ordered ^ 1 << 63 : ~ordered)
    }

    /// Text without the end mark and the escapes of zeros.
    private func text(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        var index = 0
        while index < bytes.count - 2 {
            text.append(bytes[index])
            index += bytes[index] == 0 ? 2 : 1
        }
        return text
    }
}
