// Fuzzes the files that the store reads after a power cut: records of flushes and their marks.
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Fuzzing flushes", .serialized, .onThreads)
struct FlushFuzzTests {
    /// Number of words of a record, which precede the engine's header.
    private static let wordCount = 6
    private static let recordBytes = wordCount * 8 + FlushRecord.header.count

    private static func fields(_ record: FlushRecord) -> [UInt8] {
        let boot = record.boot ?? BootID(high: 0, low: 0)
        let words = [
            record.number, boot.high, boot.low, record.transaction, UInt64(record.pageBytes), record.token,
        ]
        return words.withUnsafeBytes { Array($0) } + record.header
    }

    /// Makes a record from the bytes of `fields`. Missing bytes are 0.
    private static func record(_ fields: some Collection<UInt8>, _ sum: UInt32 = 0) -> FlushRecord {
        let bytes = Array(fields) + [UInt8](repeating: 0, count: max(0, recordBytes - fields.count))
        let words = bytes.withUnsafeBytes { bytes in
            (0..<wordCount).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        }
        return FlushRecord(
            number: words[0], boot: BootID(high: words[1], low: words[2]), transaction: words[3],
            pageBytes: Int(words[4] & UInt64(Int.max)), token: words[5], rootsSum: sum,
            header: Array(bytes[Self.wordCount * 8..<recordBytes]))
    }

    @Test("flush: a record and a mark are read as they were written, or not at all", arguments: seeds(1))
    func flush(_ seed: UInt64) throws {
        let good = FlushRecord(
            number: 6, boot: .current, transaction: 40, pageBytes: 4_096, token: 7, rootsSum: 8,
            header: Array(repeating: 9, count: FlushRecord.header.count))
        var fuzzer = try Fuzzer(
            "flush", seed: seed, good: [good.encoded, Self.fields(good), FlushMark.end(good).encoded])
        try fuzzer.run(20_000) { bytes -> String in
            let made = Self.record(bytes.prefix(Self.recordBytes))
            // The bytes as they are, and as a valid record.
            for bytes in [bytes, made.encoded] {
                guard let record = bytes.withUnsafeBytes({ FlushRecord($0) }) else { continue }
                let again = record.encoded.withUnsafeBytes { FlushRecord($0) }
                #expect(again == record, "TIDEGAUGE_SEED=\(seed): \(bytes)")
                let next = FlushRecord.nextNumber(after: record.number, keeping: record.number)
                #expect(next > record.number && next % 2 != record.number % 2, "TIDEGAUGE_SEED=\(seed): \(bytes)")
                for mark in [FlushMark.begin(record, after: 3), .end(record)] {
                    #expect(mark.encoded.withUnsafeBytes { FlushMark($0) } == mark)
                }
            }
            let marks = FlushMarks([bytes, made.encoded])
            let mark = bytes.prefix(FlushMark.bytes).withUnsafeBytes { FlushMark($0) }
            return "\(bytes.count >= FlushRecord.bytes) \(marks.isTorn) \(marks.newest != nil) \(mark != nil)"
        }
    }

    @Test("recovery: whatever was recorded of a flush, the store is opened or refused", arguments: seeds(1))
    func recovery(_ seed: UInt64) throws {
        let path = FileManager.default.temporaryDirectory.path + "/stillingwell-fuzz-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var configuration = Store.Configuration(path: path, models: Samples.models, durability: .relaxed)
        configuration.flushes.everyCommits = 1 << 40
        configuration.flushes.mostCommits = 1 << 41
        configuration.flushes.intervalNs = nil
        let url = URL(fileURLWithPath: path + "/data.mdb")
        let (original, good): (Data, [UInt8])
        do {
            let store = try Store(configuration)
            func add(_ name: String) throws {
                try store.write { connection in
                    let sample = Sample()
                    sample.name = name
                    try connection.add(sample)
                }
            }
            try Samples.fill(store)
            try store.synchronize()
            try add("flushed")
            try store.synchronize()
            // The state after a power cut: commits since the last flush must not be used.
            for name in ["not", "flushed", "any more"] { try add("late \(name)") }
            original = try Data(contentsOf: url)
            good = try FlushFile.records(path).flatMap { Self.fields($0) }
        }
        configuration.flushes.boot = BootID(high: 1, low: 2)
        try #require(good.count == 2 * Self.recordBytes)
        var fuzzer = try Fuzzer("recovery", seed: seed, good: [good])
        try fuzzer.run(150) { bytes -> String in
            try original.write(to: url)
            let pages = try FilePages(path)
            var file: [UInt8] = []
            for place in 0..<FlushRecord.places {
                let fields = bytes.dropFirst(place * Self.recordBytes).prefix(Self.recordBytes)
                let sector = Self.record(fields).sector(0)
                // A forged record has the right checksum.
                let meta = sector.withUnsafeBytes { MetaPage($0, 0) }
                let roots = meta.map { meta in
                    [meta.free.root, meta.tables.root].map { $0.flatMap { pages.read($0) } }
                }
                let record = Self.record(fields, FlushRecord.sum(roots ?? []))
                file += record.encoded
                file += [UInt8](repeating: 0, count: FlushRecord.strideBytes - FlushRecord.bytes)
            }
            try Data(file).write(to: URL(fileURLWithPath: path + "/durable.mdb"))
            do {
                let store = try Store(configuration)
                defer { store.close() }
                let count = try store.read { try Samples.lines($0) }.count
                try store.write { try $0.add(Sample()) }
                return "opened \(count)"
            } catch let error as StoreError {
                return kind(of: error)
            }
        }
    }
}
