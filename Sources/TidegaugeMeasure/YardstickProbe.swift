// Measures the yardsticks. Each is a median over at least 100 repetitions, on the calling thread while nothing else
// should run.
import CStillingWellLMDB
import Foundation
import StillingWellBasis
import TidegaugeDriver
import TidegaugeSpec

public enum YardstickProbe {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    /// Returns the median time of one repetition in ns.
    /// - Throws: `Failure` if LMDB fails, `PrivateFolder.Failure`.
    public static func readNs(_ yardstick: Yardstick) throws -> Double {
        switch yardstick {
        case .rawCommit: try rawCommitNs()
        case .twoWakes: twoWakesNs()
        case .memoryWalk: memoryWalkNs()
        }
    }

    private static func median(_ samples: [Int64]) -> Double { Double(samples.sorted()[samples.count / 2]) }

    private static func timeNs(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        var samples: [Int64] = []
        for _ in 0..<count {
            let startNs = MonotonicClock.nowNs()
            try body()
            samples.append(MonotonicClock.nowNs() - startNs)
        }
        return median(samples)
    }

    // MARK: LMDB

    private static let rows = 10_000
    private static let commits = 2_000

    private static func check(_ code: Int32, _ what: String) throws {
        guard code == 0 else {
            throw Failure(description: "LMDB cannot \(what): \(String(cString: mdb_strerror(code)))")
        }
    }

    private static func rawCommitNs() throws -> Double {
        let folder = try PrivateFolder(in: PrivateFolder.memoryPlace)
        defer { folder.remove() }
        var environment: OpaquePointer?
        try check(mdb_env_create(&environment), "make an environment")
        defer { mdb_env_close(environment) }
        try check(mdb_env_set_mapsize(environment, 64 << 20), "set its size")
        try check(mdb_env_open(environment, folder.path, UInt32(MDB_NOSYNC), 0o600), "open a store")
        // LMDB opens its data file without O_CLOEXEC.
        var file: mdb_filehandle_t = -1
        try check(mdb_env_get_fd(environment, &file), "name its file")
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        var table = MDB_dbi()
        var random = SplitMix64(seed: 1)
        func commit(_ keys: some Sequence<UInt64>) throws {
            var transaction: OpaquePointer?
            try check(mdb_txn_begin(environment, nil, 0, &transaction), "begin")
            try check(mdb_dbi_open(transaction, nil, 0, &table), "open a table")
            for key in keys {
                var key = key.bigEndian
                var row = (random.next(), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))
                let code = withUnsafeMutableBytes(of: &key) { key in
                    withUnsafeMutableBytes(of: &row) { row in
                        var name = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
                        var value = MDB_val(mv_size: row.count, mv_data: row.baseAddress)
                        return mdb_put(transaction, table, &name, &value, 0)
                    }
                }
                try check(code, "put a row")
            }
            try check(mdb_txn_commit(transaction), "commit")
        }
        try commit(0..<UInt64(rows))
        return try timeNs(commits) { try commit(CollectionOfOne(random.next() % UInt64(rows))) }
    }

    // MARK: Threads and memory

    private static let wakes = 500

    private static func twoWakesNs() -> Double {
        let (ping, pong) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = Thread {
            for _ in 0..<wakes {
                ping.wait()
                pong.signal()
            }
        }
        thread.start()
        return timeNs(wakes) {
            ping.signal()
            pong.wait()
        }
    }

    private static let walkedBytes = 4 << 20
    private static let steps = 1_000
    private static let walks = 101

    private static func memoryWalkNs() -> Double {
        // A single cycle through all places (Sattolo), so that steps cannot be predicted.
        var next = Array(UInt32(0)..<UInt32(walkedBytes / MemoryLayout<UInt32>.size))
        var random = SplitMix64(seed: 1)
        for place in stride(from: next.count - 1, to: 0, by: -1) {
            next.swapAt(place, Int.random(in: 0..<place, using: &random))
        }
        var place: UInt32 = 0
        let ns = timeNs(walks) { for _ in 0..<steps { place = next[Int(place)] } }
        // The result is used, so that the walk is not optimised away.
        return place == .max ? .infinity : ns
    }
}
