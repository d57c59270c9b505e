// Pages of a whole file by use: primary keys, indexes, orders of lists, and the list of free pages.
import Foundation

/// Uses of pages that damage can target.
enum PageUse: CaseIterable, Sendable {
    case free, keys, indexes, orders
}

struct TreePages: Sendable {
    private static let pageBytes = 4_096
    private static let maxDepth = 32
    private(set) var pages: [PageUse: [Int]] = [:]
    private let data: Data

    init(_ data: Data) {
        self.data = data
        let metas = [0, Self.pageBytes]
        let newest = metas.max { number($0 + 144) < number($1 + 144) } ?? 0
        walk(number(newest + 80), .free, 0)
        walk(number(newest + 128), nil, 0)
    }

    private func number(_ place: Int, bytes: Int = 8) -> UInt64 { data.number(place, bytes: bytes) }

    private mutating func walk(_ root: UInt64, _ use: PageUse?, _ depth: Int) {
        guard root < UInt64(data.count / Self.pageBytes), depth < Self.maxDepth else { return }
        let (page, base) = (Int(root), Int(root) * Self.pageBytes)
        if let use { pages[use, default: []].append(page) }
        let kind = number(base + 10, bytes: 2) & 0x2f
        guard kind == 1 || kind == 2 else { return }
        for slot in stride(from: base + 16, to: base + Int(number(base + 12, bytes: 2)), by: 2) {
            let entry = base + Int(number(slot, bytes: 2))
            if kind == 1 {
                walk(number(entry) & 0xffff_ffff_ffff, use, depth + 1)
                continue
            }
            let (flags, keyBytes) = (number(entry + 4, bytes: 2), Int(number(entry + 6, bytes: 2)))
            let value = entry + 8 + keyBytes
            if flags == 1, let use { pages[use, default: []].append(Int(number(value))) }
            guard flags & 2 != 0 else { continue }
            let name = String(decoding: data[entry + 8..<value], as: UTF8.self)
            // A named table, or the values of one key of an index.
            let next = flags == 2 ? Self.use(name) : use
            if next != nil { walk(number(value + 40), next, 0) }
        }
    }

    private static func use(_ table: String) -> PageUse? {
        if table.hasPrefix("key.") { return .keys }
        if table.hasPrefix("index.") { return .indexes }
        return table.hasPrefix("ranks.") ? .orders : nil
    }
}
