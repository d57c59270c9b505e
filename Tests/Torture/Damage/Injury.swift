// Kinds of damage to a copy. Some know LMDB's page format. The kinds for meta pages, the list of free pages, keys,
// indexes and orders of lists have four times the weight of the others.
import Foundation
import StillingWellSeededRandom

enum Injury: CaseIterable {
    case bits, bytes, sector, zeros, garbage, swapped, duplicated, stale, cut, lengthened, meta, sidecars
    case head, offset, entry, child, record, freeList, ownPages
    /// Damage to a page with a given use.
    case freePage, keyPage, indexPage, orderPage

    private static let weighted = allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    private var weight: Int {
        switch self {
        case .meta, .freeList, .keyPage, .indexPage, .orderPage: 4
        default: 1
        }
    }

    private var use: PageUse? {
        switch self {
        case .freePage: .free
        case .keyPage: .keys
        case .indexPage: .indexes
        case .orderPage: .orders
        default: nil
        }
    }

    private static let pageBytes = 4_096
    /// Values that are likely to break arithmetic.
    private static let extremes: [UInt64] = [
        0, 1, 2, 7, 15, 16, 17, 0x7f, 0xff, 0x100, 0xfff, 0x1000, 0x1001, 0x7fff, 0x8000, 0xfff0, 0xffff, 0x10000,
        0x7fff_ffff,
        0x8000_0000, 0xffff_ffff, 0xffff_ffff_ffff, 0x7fff_ffff_ffff_ffff, .max,
    ]

    /// - Returns: a description of the damage.
    static func injure(_ copy: inout Copy, _ random: inout SeededRandom) -> String {
        let injury = weighted[random.below(weighted.count)]
        return "\(injury): \(injury.apply(&copy, &random))"
    }

    /// Damages a page with the given use, by one of the kinds of damage to a single page.
    private func applyToPage(of use: PageUse, _ copy: inout Copy, _ random: inout SeededRandom) -> String {
        let pages = copy.pages(of: use)
        guard !pages.isEmpty else { return "none" }
        let page = pages[random.below(pages.count)]
        let kinds: [Injury] = [
            .bits, .bytes, .sector, .zeros, .garbage, .swapped, .duplicated, .stale, .head, .offset, .entry, .child,
        ]
        let kind = kinds[random.below(kinds.count)]
        switch kind {
        case .offset, .entry, .child: return "\(kind): \(kind.applyInside(&copy, &random, in: [page]))"
        case .swapped, .duplicated:
            // In half of the cases the other page is chosen among those with the same use.
            let other = random.below(2) == 0 ? pages[random.below(pages.count)] : nil
            return "\(kind): \(kind.apply(&copy, &random, to: page, by: other))"
        default: return "\(kind): \(kind.apply(&copy, &random, to: page))"
        }
    }

    private func apply(
        _ copy: inout Copy, _ random: inout SeededRandom, to chosen: Int? = nil, by second: Int? = nil
    ) -> String {
        let (bytes, pages) = (Self.pageBytes, copy.data.count / Self.pageBytes)
        let page = chosen ?? random.below(pages)
        func random512(_ random: inout SeededRandom) -> Int { page * bytes + 512 * random.below(bytes / 512) }
        switch self {
        case .bits:
            let places = (0...random.below(3)).map { _ in page * bytes + random.below(bytes) }
            for place in places { copy.data[place] ^= 1 << UInt8(random.below(8)) }
            return "\(places)"
        case .bytes:
            let place = page * bytes + random.below(bytes - 8)
            for offset in 0..<1 + random.below(8) { copy.data[place + offset] = UInt8(random.below(256)) }
            return "at \(place)"
        case .sector:
            let place = random512(&random)
            copy.data.replaceSubrange(place..<place + 512, with: Data(count: 512))
            return "at \(place)"
        case .zeros:
            copy.replace(page, with: Data(count: bytes))
            return "page \(page)"
        case .garbage:
            copy.replace(page, with: Data((0..<bytes).map { _ in UInt8(random.below(256)) }))
            return "page \(page)"
        case .swapped:
            let other = second ?? random.below(pages)
            let (first, second) = (copy.page(page), copy.page(other))
            copy.replace(page, with: second)
            copy.replace(other, with: first)
            return "pages \(page) and \(other)"
        case .duplicated:
            let other = second ?? random.below(pages)
            var content = copy.page(other)
            // A page that carries the right page number is harder to detect.
            if random.below(2) == 0 { content.put(UInt64(page), at: 0, bytes: 8) }
            copy.replace(page, with: content)
            return "page \(other) on \(page)"
        case .stale:
            let page = chosen ?? random.below(copy.earlier.count / bytes)
            guard page < min(pages, copy.earlier.count / bytes) else { return "none" }
            copy.replace(page, with: copy.earlier.subdata(in: page * bytes..<(page + 1) * bytes))
            return "page \(page)"
        case .cut:
            copy.data = copy.data.prefix(random.below(copy.data.count))
            return "to \(copy.data.count)"
        case .lengthened:
            copy.data.append(Data((0..<1 + random.below(3 * bytes)).map { _ in UInt8(random.below(256)) }))
            return "to \(copy.data.count)"
        case .meta:
            let place = random.below(2) * bytes + random.below(152)
            return copy.set(place, 1 << random.below(4), &random)
        case .sidecars:
            for name in ["lock.mdb", "shared", "data.new", "data.new-lock", GoodStore.durableName]
            where random.below(2) == 0 {
                copy.sidecars[name] = Data((0..<random.below(9_000)).map { _ in UInt8(random.below(256)) })
            }
            return "\(copy.sidecars.keys.sorted())"
        case .head: return copy.set(page * bytes + random.below(16), 1 << random.below(4), &random)
        case .offset, .entry, .child, .record, .freeList, .ownPages: return applyInside(&copy, &random)
        case .freePage, .keyPage, .indexPage, .orderPage:
            return use.map { applyToPage(of: $0, &copy, &random) } ?? "none"
        }
    }

    /// Damages a page of the kind that this injury needs.
    /// - Parameter pages: pages to choose from, or nil for all.
    private func applyInside(
        _ copy: inout Copy, _ random: inout SeededRandom, in pages: [Int]? = nil
    ) -> String {
        // Page type (1 branch, 2 leaf), and the flags of the entry to damage.
        let (kind, flag): (Int, Int?) =
            switch self {
            case .child: (1, nil)
            case .record: (2, 2)
            case .ownPages: (2, 1)
            case .freeList: (2, 0)
            default: (random.below(3) == 0 ? 1 : 2, nil)
            }
        for _ in 0..<2_000 {
            let page = pages.map { $0[random.below($0.count)] } ?? random.below(copy.data.count / Self.pageBytes)
            guard let entry = copy.entry(page, kind, flag, self == .freeList, &random) else { continue }
            switch self {
            case .offset: return copy.set(entry.slot, 2, &random)
            case .entry: return copy.set(entry.place + random.below(8), 1 << random.below(3), &random)
            case .child: return copy.set(entry.place, [2, 4][random.below(2)], &random)
            // Fields of a B-tree record: flags, depth, counts, root.
            case .record:
                return copy.set(entry.place + 8 + entry.keyBytes + random.below(6) * 8, 1 << random.below(4), &random)
            case .ownPages: return copy.set(entry.place + 8 + entry.keyBytes, 1 << random.below(4), &random)
            default:
                return copy.set(entry.place + 16 + 8 * random.below(1 + entry.valueBytes / 8), 8, &random)
            }
        }
        return "none"
    }

    /// Returns a replacement for `old`: an extreme value, a near one, a page number, or a random one.
    fileprivate static func value(_ old: UInt64, _ lastPage: UInt64, _ random: inout SeededRandom) -> UInt64 {
        switch random.below(4) {
        case 0: extremes[random.below(extremes.count)]
        case 1: old &+ UInt64(random.below(64)) &- 32
        case 2: UInt64(random.below(Int(lastPage) + 2))
        default: random.next()
        }
    }
}

/// A copy of a store file, while it is being damaged.
struct Copy {
    var data: Data
    let earlier: Data
    private let trees: TreePages
    var sidecars: [String: Data] = [:]

    private static let pageBytes = 4_096

    init(_ store: GoodStore) { (data, earlier, trees) = (store.data, store.earlier, store.trees) }

    func pages(of use: PageUse) -> [Int] { trees.pages[use] ?? [] }

    func page(_ number: Int) -> Data { data.subdata(in: number * Self.pageBytes..<(number + 1) * Self.pageBytes) }

    mutating func replace(_ number: Int, with bytes: Data) {
        data.replaceSubrange(number * Self.pageBytes..<(number + 1) * Self.pageBytes, with: bytes)
    }

    fileprivate mutating func set(_ place: Int, _ bytes: Int, _ random: inout SeededRandom) -> String {
        let place = min(place, data.count - 8)
        let old = data.number(place, bytes: bytes)
        let new = Injury.value(old, UInt64(data.count / Self.pageBytes), &random)
        data.put(new, at: place, bytes: bytes)
        return "\(bytes) bytes at \(place) (page \(place / Self.pageBytes)): \(old) → \(new)"
    }

    /// Returns a random entry of a page, or nil if the page is not of that kind or the chosen entry does not match.
    fileprivate func entry(
        _ page: Int, _ kind: Int, _ flag: Int?, _ isOfFreeList: Bool, _ random: inout SeededRandom
    ) -> (slot: Int, place: Int, keyBytes: Int, valueBytes: Int)? {
        let base = page * Self.pageBytes
        guard page > 1, Int(truncatingIfNeeded: data.number(base, bytes: 8)) == page,
            Int(truncatingIfNeeded: data.number(base + 10, bytes: 2)) == kind,
            case let count = (Int(truncatingIfNeeded: data.number(base + 12, bytes: 2)) - 16) / 2, count > 0,
            count < 1_000
        else { return nil }
        let slot = base + 16 + 2 * random.below(count)
        let offset = Int(truncatingIfNeeded: data.number(slot, bytes: 2))
        guard offset < Self.pageBytes - 16, case let place = base + offset else { return nil }
        let (valueBytes, keyBytes) = (
            Int(truncatingIfNeeded: data.number(place, bytes: 4)),
            Int(truncatingIfNeeded: data.number(place + 6, bytes: 2))
        )
        if let flag, Int(truncatingIfNeeded: data.number(place + 4, bytes: 2)) & 3 != flag { return nil }
        // An entry of the free list has a key of 8 bytes. Its value begins with its number of pages.
        if isOfFreeList {
            guard keyBytes == 8, valueBytes % 8 == 0, offset + 16 + valueBytes <= Self.pageBytes,
                Int(truncatingIfNeeded: data.number(place + 16, bytes: 8)) == valueBytes / 8 - 1
            else { return nil }
        }
        return (slot, place, keyBytes, min(valueBytes, Self.pageBytes))
    }
}

extension Data {
    func number(_ place: Int, bytes: Int) -> UInt64 {
        (0..<bytes).reduce(0) { $0 | UInt64(self[startIndex + place + $1]) << UInt64(8 * $1) }
    }

    fileprivate mutating func put(_ number: UInt64, at place: Int, bytes: Int) {
        for index in 0..<bytes {
            self[startIndex + place + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
        }
    }
}
