// Tests of calls of the engine: a write that leaves the engine during a change, and the order of keys.
import CStillingWellEngine
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Calls that leave the engine")
struct EngineCallTests {
    private static let pageBytes = 4_096

    /// An environment with one table. Its keys are 0, 1, … in eight bytes, and its values have 100 bytes.
    private final class Tree {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        let environment: OpaquePointer
        private(set) var table: MDB_dbi = 0

        init(keys: Int) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            environment = try LMDB.makeEnvironment(mapBytes: 1 << 24, path: path)
            try #require(engine_open(environment, path, UInt32(MDB_NOTLS | MDB_NOSYNC), 0o600) == 0)
            let transaction = try begin()
            try #require(engine_open_table(transaction, "numbers", UInt32(MDB_CREATE), &table) == 0)
            for key in 0..<keys {
                let code = with(key) { key in
                    [UInt8](repeating: 7, count: 100).withUnsafeBytes { bytes in
                        var value = MDB_val(bytes)
                        return engine_put(transaction, table, &key, &value, 0)
                    }
                }
                try #require(code == 0)
            }
            try #require(engine_commit(transaction) == 0)
        }

        deinit {
            engine_close(environment)
            try? FileManager.default.removeItem(atPath: path)
        }

        func begin() throws -> LMDBTransaction {
            var transaction: LMDBTransaction?
            try #require(mdb_txn_begin(environment, nil, 0, &transaction) == 0)
            return try #require(transaction)
        }

        func with(_ key: Int, _ body: (inout MDB_val) -> Int32) -> Int32 {
            withUnsafeBytes(of: UInt64(key).bigEndian) { bytes in
                var key = MDB_val(bytes)
                return body(&key)
            }
        }

        /// Gives the first entry of the second leaf an odd offset, which fails an assertion when it is moved.
        func damageSecondLeaf() throws {
            let file = open(path + "/data.mdb", O_RDWR | O_CLOEXEC)
            defer { close(file) }
            var leaves: [(firstKey: UInt64, place: off_t)] = []
            var page = [UInt8](repeating: 0, count: pageBytes)
            var place = off_t(2 * pageBytes)
            while pread(file, &page, pageBytes, place) == pageBytes {
                defer { place += off_t(pageBytes) }
                func word(_ offset: Int) -> Int { Int(page[offset]) | Int(page[offset + 1]) << 8 }
                // A leaf that has entries with keys of the table. An entry has eight bytes of header, key and value.
                guard word(10) == 2, word(12) > 16, word(word(16) + 6) == 8 else { continue }
                let key = page[(word(16) + 8)...].prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                leaves.append((key, place))
            }
            leaves.sort { $0.firstKey < $1.firstKey }
            try #require(leaves.count > 2 && leaves[0].firstKey == 0)
            let entry = leaves[1].place + 16
            var low: UInt8 = 0
            try #require(pread(file, &low, 1, entry) == 1)
            low |= 1
            try #require(pwrite(file, &low, 1, entry) == 1)
        }
    }

    @Test("memory that the engine kept on the stack is not freed with the transaction, and nothing is written after it")
    func stackCursor() throws {
        let tree = try Tree(keys: 400)
        try tree.damageSecondLeaf()
        let transaction = try tree.begin()
        var codes: [Int32] = []
        // Deletes until the first leaf has too few entries and takes some of the second.
        for key in 0..<400 where codes.allSatisfy({ $0 == 0 }) {
            codes.append(tree.with(key) { engine_del(transaction, tree.table, &$0, nil) })
        }
        #expect(codes.count > 5 && codes.last == MDB_CORRUPTED, "\(codes)")
        #expect(engine_is_broken(tree.environment))
        engine_abort(transaction)
        // The lock was released with the transaction.
        let next = try tree.begin()
        #expect(tree.with(399) { engine_del(next, tree.table, &$0, nil) } == MDB_CORRUPTED)
        engine_abort(next)
    }

    @Test("keys are in the order of their bytes, whatever they have in common", arguments: seeds(20))
    func keyOrder(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let tree = try Tree(keys: 0)
        let transaction = try tree.begin()
        defer { engine_abort(transaction) }
        for _ in 0..<2_000 {
            let common = (0..<random.below(20)).map { _ in UInt8(random.below(256)) }
            let keys = (0..<2).map { _ in
                let own = random.from(common.isEmpty ? 1...9 : 0...9)
                return common + (0..<own).map { _ in random.one(of: [0, 1, 127, 128, 255] as [UInt8]) }
            }
            let order = keys[0].withUnsafeBytes { one in
                keys[1].withUnsafeBytes { other in
                    var (one, other) = (MDB_val(one), MDB_val(other))
                    return mdb_cmp(transaction, tree.table, &one, &other).signum()
                }
            }
            let expected: Int32 = keys[0].lexicographicallyPrecedes(keys[1]) ? -1 : keys[0] == keys[1] ? 0 : 1
            #expect(order == expected, "\(keys)")
        }
    }
}
