// Helpers of the targets: bytes before unreadable memory, a table of the engine, the schema of a closed store.
import CStillingWellLMDB
import Foundation
import Testing

@testable import StillingWell

enum Guarded {
    /// Runs `body` with bytes that are followed by unreadable memory.
    static func withBytes<Result>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result
    {
        let page = Int(getpagesize())
        let room = (bytes.count + page - 1) / page * page + page
        let map = try #require(mmap(nil, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        try #require(map != MAP_FAILED)
        defer { munmap(map, room) }
        // The last byte is directly before the unreadable page.
        let start = map + (room - page - bytes.count)
        bytes.withUnsafeBytes { if let from = $0.baseAddress { start.copyMemory(from: from, byteCount: $0.count) } }
        mprotect(map + (room - page), page, PROT_NONE)
        return try body(UnsafeRawBufferPointer(start: start, count: bytes.count))
    }
}

/// A table with integer keys, in a file of its own.
final class MemoryTable {
    private let folder = FileManager.default.temporaryDirectory.path + "/stillingwell-fuzz-\(UUID().uuidString)"
    private let environment: OpaquePointer

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        environment = try LMDB.makeEnvironment(mapBytes: 1 << 22, path: folder)
        try LMDB.check(mdb_env_open(environment, folder, UInt32(MDB_NOTLS | MDB_NOSYNC), 0o600), "open", path: folder)
    }

    deinit {
        mdb_env_close(environment)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Runs `body` with one entry in the table, and discards it afterwards.
    func with<Result>(
        _ id: UInt64, _ value: [UInt8], _ body: (LMDBTransaction, MDB_dbi) throws(EngineFailure) -> Result
    ) throws(EngineFailure) -> Result {
        var transaction: LMDBTransaction?
        var table: MDB_dbi = 0
        guard mdb_txn_begin(environment, nil, 0, &transaction) == 0, let transaction else {
            throw EngineFailure(code: EINVAL)
        }
        defer { mdb_txn_abort(transaction) }
        var code = mdb_dbi_open(transaction, "table", UInt32(MDB_INTEGERKEY | MDB_CREATE), &table)
        if code == 0 { code = value.withUnsafeBytes { LMDB.put(transaction, table, id: id, $0) } }
        if code != 0 { throw EngineFailure(code: code) }
        return try body(transaction, table)
    }
}

enum SchemaText {
    private static func with<Result>(_ path: String, _ body: (LMDBTransaction, MDB_dbi) throws -> Result) throws
        -> Result
    {
        let environment = try LMDB.makeEnvironment(mapBytes: 1 << 26, path: path)
        defer { mdb_env_close(environment) }
        try LMDB.check(mdb_env_open(environment, path, UInt32(MDB_NOTLS | MDB_NOSYNC), 0o600), "open", path: path)
        var transaction: LMDBTransaction?
        var meta: MDB_dbi = 0
        try LMDB.check(mdb_txn_begin(environment, nil, 0, &transaction), "begin", path: path)
        try LMDB.check(mdb_dbi_open(transaction, "meta", 0, &meta), "open", path: path)
        let result = try body(transaction!, meta)
        try LMDB.check(mdb_txn_commit(transaction), "commit", path: path)
        return result
    }

    static func read(_ path: String) throws -> [UInt8] {
        try with(path) { transaction, meta in
            try Array("schema".utf8).withUnsafeBytes { Array(try #require(try LMDB.get(transaction, meta, key: $0))) }
        }
    }

    /// Writes a schema with its checksum.
    static func write(_ bytes: [UInt8], _ path: String) throws {
        try with(path) { transaction, meta in
            for (name, value) in [("schema", bytes), (StoreSchema.sumKey, StoreSchema.sum(of: Data(bytes)))] {
                var name = name
                let code = name.withUTF8 { key in
                    value.withUnsafeBytes { value in
                        var (key, value) = (MDB_val(UnsafeRawBufferPointer(key)), MDB_val(value))
                        return mdb_put(transaction, meta, &key, &value, 0)
                    }
                }
                try LMDB.check(code, "put", path: path)
            }
        }
    }
}
