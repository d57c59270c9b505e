// The file of a closed store, as bytes that a test can damage. Its pages have LMDB's data version 1.
import Foundation
import Testing

@testable import StillingWell

/// A closed store in a folder of its own, and the bytes of its file.
final class ClosedStore {
    static let pageBytes = 4_096
    private enum Kind { static let (branch, leaf): (UInt16, UInt16) = (1, 2) }
    private enum Flag { static let (large, values): (UInt16, UInt16) = (1, 6) }
    let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
    private let models: [StoredObject.Type]
    private(set) var bytes = Data()

    /// - Parameter fill: writes the content of the store.
    init(_ models: [StoredObject.Type], _ fill: (Store) throws -> Void) throws {
        self.models = models
        try open(fill)
        bytes = try Data(contentsOf: file)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private var file: URL { URL(fileURLWithPath: path + "/data.mdb") }

    func open(_ body: (Store) throws -> Void) throws {
        let store = try Store(.init(path: path, models: models, durability: .relaxed))
        try body(store)
        store.close()
    }

    /// Writes the bytes to the file and removes all other files of the store.
    func save() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
        try bytes.write(to: file)
    }

    /// Runs `body` with a damaged file. Afterwards `bytes` are as before; the file stays damaged.
    func damaged(_ damage: () throws -> Void, _ body: () throws -> Void) throws {
        let whole = bytes
        defer { bytes = whole }
        try damage()
        try save()
        try body()
    }

    // MARK: Bytes

    func number<Number: FixedWidthInteger>(at offset: Int, _: Number.Type) -> Number {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }

    func set(_ number: some FixedWidthInteger, at offset: Int) {
        withUnsafeBytes(of: number) { bytes.replaceSubrange(offset..<offset + $0.count, with: $0) }
    }

    /// Exchanges the pages at two offsets.
    func swap(_ one: Int, _ other: Int) {
        let kept = page(at: one)
        bytes.replaceSubrange(one..<one + Self.pageBytes, with: page(at: other))
        bytes.replaceSubrange(other..<other + Self.pageBytes, with: kept)
    }

    /// Copies one page over another, and gives the copy the page number of its new place.
    func copy(_ one: Int, over other: Int) {
        bytes.replaceSubrange(other..<other + Self.pageBytes, with: page(at: one))
        set(UInt64(other / Self.pageBytes), at: other)
    }

    private func page(at place: Int) -> Data { Data(bytes[place..<place + Self.pageBytes]) }

    // MARK: Pages

    /// Offsets of the pages of a type.
    private func pages(_ kind: UInt16) -> [Int] {
        stride(from: 2 * Self.pageBytes, to: bytes.count, by: Self.pageBytes).filter {
            number(at: $0 + 10, UInt16.self) == kind
        }
    }

    var branches: [Int] { pages(Kind.branch) }

    /// Offsets of leaves whose entries contain a text.
    func leaves(holding text: String) -> [Int] {
        pages(Kind.leaf).filter { page in
            let begin = page + Int(number(at: page + 14, UInt16.self))
            let end = page + Self.pageBytes
            return begin < end && bytes[begin..<end].range(of: Data(text.utf8)) != nil
        }
    }

    /// Offsets of the entries of a page.
    func entries(of page: Int) -> [Int] {
        let end = page + Int(number(at: page + 12, UInt16.self))
        return stride(from: page + 16, to: end, by: 2).map { page + Int(number(at: $0, UInt16.self)) }
    }

    /// Offsets of keys with these bytes.
    func keys(_ key: String) -> [Int] {
        let wanted = Data(key.utf8)
        let all = pages(Kind.leaf).flatMap { entries(of: $0) }
        let places = all.filter { number(at: $0 + 6, UInt16.self) == UInt16(wanted.count) }.map { $0 + 8 }
        return places.filter { Data(bytes[$0..<$0 + wanted.count]) == wanted }
    }

    /// Offset of the header of the newest commit.
    private var header: Int {
        number(at: 144, UInt64.self) > number(at: Self.pageBytes + 144, UInt64.self) ? 0 : Self.pageBytes
    }

    /// Root of the tree of free pages at the newest commit.
    var freePages: Int { number(at: header + 80, Int.self) }
    /// Root of the tree of tables.
    var tables: Int { number(at: header + 128, Int.self) }
    var lastPage: Int { number(at: header + 136, Int.self) }
    var transaction: UInt64 { number(at: header + 144, UInt64.self) }

    /// Offset of the record of a table. The tree of tables must have one page.
    func record(of table: String) throws -> Int {
        let found = entries(of: tables * Self.pageBytes).first { entry in
            let count = Int(number(at: entry + 6, UInt16.self))
            return Data(bytes[entry + 8..<entry + 8 + count]) == Data(table.utf8)
        }
        return try #require(found, "no table '\(table)'") + 8 + table.utf8.count
    }

    func root(of table: String) throws -> Int { number(at: try record(of: table) + 40, Int.self) }

    /// Numbers of the pages below a branch.
    func children(of page: Int) -> [Int] {
        entries(of: page * Self.pageBytes).map { Int(number(at: $0, UInt64.self) & 0xffff_ffff_ffff) }
    }

    /// Numbers of the leaves of a tree.
    func leaves(below page: Int) -> [Int] {
        guard number(at: page * Self.pageBytes + 10, UInt16.self) == Kind.branch else { return [page] }
        return children(of: page).flatMap { leaves(below: $0) }
    }

    /// First page of each value in overflow pages that the leaves of a tree refer to.
    func largeValues(of table: String) throws -> [Int] {
        try values(of: table, Flag.large).map { number(at: $0, Int.self) }
    }

    /// Root of each tree of duplicate values that the leaves of a tree refer to.
    func valueTrees(of table: String) throws -> [Int] {
        try values(of: table, Flag.values).map { number(at: $0 + 40, Int.self) }
    }

    private func values(of table: String, _ flag: UInt16) throws -> [Int] {
        var found: [Int] = []
        for leaf in leaves(below: try root(of: table)) {
            for entry in entries(of: leaf * Self.pageBytes) where number(at: entry + 4, UInt16.self) == flag {
                found.append(entry + 8 + Int(number(at: entry + 6, UInt16.self)))
            }
        }
        return found
    }
}
