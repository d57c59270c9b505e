// Tests of the V2 encoding with a decoder written from the format's description, not from the encoder.
import CTidegaugeZlib
import Foundation
import StillingWellSeededRandom
import Testing
import TidegaugeSpec

@testable import TidegaugeMeasure

@Suite("Histogram encoding")
struct HistogramCodeTests {
    /// Returns samples by the highest value of each bucket, or nil if the bytes are not such a histogram.
    private func decoded(_ text: String) -> [UInt64: UInt64]? {
        guard let data = Data(base64Encoded: text), data.count > 8 else { return nil }
        func integer(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 * 256 + UInt64($1) } }
        guard integer(data[0..<4]) == 0x1C84_9314, integer(data[4..<8]) == UInt64(data.count - 8) else { return nil }
        var length = uLong(1 << 20)
        var bytes = [UInt8](repeating: 0, count: Int(length))
        guard uncompress(&bytes, &length, Array(data[8...]), uLong(data.count - 8)) == Z_OK else { return nil }
        bytes = Array(bytes.prefix(Int(length)))
        guard integer(bytes[0..<4]) == 0x1C84_9313, integer(bytes[4..<8]) == UInt64(bytes.count - 40),
            integer(bytes[8..<12]) == 0, integer(bytes[12..<16]) == 3, integer(bytes[16..<24]) == 1,
            Double(bitPattern: integer(bytes[32..<40])) == 1
        else { return nil }
        let highest = integer(bytes[24..<32])
        var samples: [UInt64: UInt64] = [:]
        var slot: UInt64 = 0
        var place = 40
        while place < bytes.count {
            var raw: UInt64 = 0
            var taken = 0
            while true {
                let byte = UInt64(bytes[place])
                place += 1
                taken += 1
                if taken == 9 {
                    raw += byte << 56
                    break
                }
                raw += (byte & 127) << UInt64(7 * (taken - 1))
                if byte < 128 { break }
            }
            let value = raw & 1 == 0 ? Int64(raw / 2) : -Int64(raw / 2) - 1
            if value < 0 {
                slot += UInt64(-value)
                continue
            }
            // 2,048 slots of width 1, then 1,024 for each further power of two.
            let power = slot < 2048 ? 0 : slot / 1024 - 1
            let lowest = slot < 2048 ? slot : (slot % 1024 + 1024) << power
            let edge = lowest + (1 << power) - 1
            if value > 0 { samples[edge] = UInt64(value) }
            guard edge <= highest || value == 0 else { return nil }
            slot += 1
        }
        return samples
    }

    @Test("Buckets and sums of samples that no trial has are damage")
    func impossibleSamples() throws {
        let last = TimeWeightedHistogram.bucket(of: .max)
        #expect(try HistogramCode.decode(HistogramCode.encode([(last, 1)])).map(\.index) == [last])
        #expect(try HistogramCode.decode(HistogramCode.encode([(0, 1 << 56)])).map(\.count) == [1 << 56])
        for counts in [[(0, 1 << 56), (1, 1)], [(0, UInt64.max)]] as [[(index: Int, count: UInt64)]] {
            #expect(throws: HistogramCode.Damage.self) { try HistogramCode.decode(HistogramCode.encode(counts)) }
        }
        var distribution = ValueDistribution()
        let large = HistogramCode.encode([(index: 0, count: 1 << 56)])
        for _ in 0..<16 { try distribution.add(samples: large) }
        #expect(throws: HistogramCode.Damage.self) { try distribution.add(samples: large) }
        #expect(distribution.total == 1 << 60)
    }

    @Test("A packed text takes no more room than zlib can fill")
    func packedRoom() throws {
        for bytes in [[], [7], [UInt8](repeating: 0, count: 1 << 20)] as [[UInt8]] {
            #expect(try Deflated.unpack(Deflated.pack(bytes), mostBytes: 1 << 44) == bytes)
        }
    }

    @Test("Samples come out of the text as they went in", arguments: seeds(50))
    func random(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var histogram = LatencyHistogram()
        var expected: [UInt64: UInt64] = [:]
        for _ in 0..<Int.random(in: 1...3_000, using: &random) {
            let value = Int64.random(in: 0...9, using: &random) << Int64.random(in: 0...59, using: &random)
            let count = 1 << Int.random(in: 0...12, using: &random)
            histogram.record(value, count: count)
            let edge = TimeWeightedHistogram.upperEdge(ofBucket: TimeWeightedHistogram.bucket(of: value))
            expected[UInt64(edge), default: 0] += UInt64(count)
        }
        let record = try #require(histogram.record(for: .endToEndLatency, lengthNs: 5))
        #expect(record.max == histogram.max && record.bounds == nil)
        #expect(decoded(record.samples) == expected, "seed \(seed)")
        var distribution = ValueDistribution()
        try distribution.add(samples: record.samples)
        #expect(Int(distribution.total) == histogram.count)
        // The decoded histogram has the recorded percentiles.
        for (statistic, part) in [(Statistic.p50, 2), (.p90, 10), (.p99, 100)] {
            let rank = distribution.total - distribution.total / UInt64(part)
            let value = distribution.cumulative().first { $0.samples >= max(rank, 1) }?.value
            #expect(min(value ?? -1, record.max) == histogram.percentile(statistic)?.value)
        }
    }

    @Test("Counts of one to nine bytes, in the first bucket and in large ones")
    func extremes() throws {
        for value in [0, 1, 2_047, 2_048, Int64.max / 4] {
            for count in [1, 63, 64, 8_191, 8_192, Int(Int32.max), Int.max / 4] {
                var histogram = LatencyHistogram()
                histogram.record(value, count: count)
                let record = try #require(histogram.record(for: .lockWait, lengthNs: 1))
                let samples = try #require(decoded(record.samples))
                #expect(samples.count == 1 && samples.first?.value == UInt64(count), "\(value) × \(count)")
            }
        }
        #expect(LatencyHistogram().record(for: .lockWait, lengthNs: 1) == nil)
    }

    @Test("Censored samples are counted at their bound, and also separately")
    func censored() throws {
        var histogram = LatencyHistogram()
        histogram.record(100, count: 3)
        histogram.recordCensored(500)
        let record = try #require(histogram.record(for: .endToEndLatency, lengthNs: 1))
        #expect(decoded(record.samples) == [100: 3, 500: 1])
        #expect(try decoded(#require(record.bounds)) == [500: 1])
    }

    @Test(
        "A text that is no histogram is refused",
        arguments: ["", "!", "AAAA", Data(repeating: 7, count: 64).base64EncodedString()])
    func damaged(text: String) {
        var distribution = ValueDistribution()
        #expect(throws: HistogramCode.Damage.self) { try distribution.add(samples: text) }
    }

    @Test("A histogram that is cut off is refused, wherever")
    func cutOff() throws {
        var histogram = LatencyHistogram()
        for value in 1...200 { histogram.record(Int64(value * value * value)) }
        let data = try #require(Data(base64Encoded: histogram.record(for: .lockWait, lengthNs: 1)!.samples))
        for length in 0..<data.count {
            var distribution = ValueDistribution()
            #expect(throws: HistogramCode.Damage.self) {
                try distribution.add(samples: data.prefix(length).base64EncodedString())
            }
        }
    }
}
