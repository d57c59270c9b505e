// HdrHistogram's V2 encoding, compressed and in base64. Used for logs and for results of child processes. Pure; not for
// recording.
import Foundation

/// Encodes samples by bucket, in the layout of three significant digits from 1 up, as V2 text.
public enum HistogramCode {
    private static let v2Cookie: UInt32 = 0x1c84_9303 | 0x10
    private static let compressedV2Cookie: UInt32 = 0x1c84_9304 | 0x10
    private static let significantDigits: UInt32 = 3
    private static let headerBytes = 40
    /// Maximum payload. 64-bit values need fewer than 57,000 buckets.
    private static let mostPayloadBytes = 1 << 20
    /// Maximum sum of counts. Weights are nanoseconds (two years), and the sum of 100 histograms fits into 63 bits.
    private static let mostSamples: UInt64 = 1 << 56

    /// Error for a text that is not a valid histogram.
    public typealias Damage = Deflated.Damage

    /// Encodes `counts`: pairs of bucket index and count with ascending indices and counts above 0.
    static func encode(_ counts: [(index: Int, count: UInt64)]) -> String {
        var payload: [UInt8] = []
        var next = 0
        for (index, count) in counts {
            // A run of empty buckets is encoded as its negated length.
            if index > next { append(Int64(next - index), to: &payload) }
            append(Int64(clamping: count), to: &payload)
            next = index + 1
        }
        var bytes: [UInt8] = []
        append(v2Cookie, to: &bytes)
        append(UInt32(payload.count), to: &bytes)
        append(UInt32(0), to: &bytes)
        append(significantDigits, to: &bytes)
        append(UInt64(1), to: &bytes)
        let highest = max(2, TimeWeightedHistogram.upperEdge(ofBucket: max(next - 1, 0)))
        append(UInt64(highest), to: &bytes)
        append((1.0).bitPattern, to: &bytes)
        let packed = Deflated.pack(bytes + payload)
        var result: [UInt8] = []
        append(compressedV2Cookie, to: &result)
        append(UInt32(packed.count), to: &result)
        return Data(result + packed).base64EncodedString()
    }

    /// Decodes the buckets of `text`.
    /// - Throws: `Damage` if it is not a valid histogram.
    static func decode(_ text: String) throws(Damage) -> [(index: Int, count: UInt64)] {
        guard let data = Data(base64Encoded: text) else { throw Damage(description: "no base64") }
        var outer = Bytes(data)
        guard outer.integer(4) == UInt64(compressedV2Cookie), let length = outer.integer(4),
            length == outer.left
        else { throw Damage(description: "no compressed V2 histogram") }
        var bytes = Bytes(try Deflated.unpack(outer.rest, mostBytes: mostPayloadBytes + headerBytes))
        guard bytes.integer(4) == UInt64(v2Cookie), let payload = bytes.integer(4), bytes.integer(4) == 0,
            bytes.integer(4) == UInt64(significantDigits), bytes.integer(8) == 1, bytes.integer(8) != nil,
            bytes.integer(8) != nil, bytes.left == payload
        else { throw Damage(description: "no V2 histogram of three digits") }
        var counts: [(index: Int, count: UInt64)] = []
        var (index, total) = (0, UInt64(0))
        while bytes.left > 0 {
            guard let value = bytes.varint(), value > Int64.min, index <= TimeWeightedHistogram.bucket(of: .max) else {
                throw Damage(description: "a count is incomplete, or of a bucket that does not exist")
            }
            if value < 0 {
                guard value > -Int64(mostPayloadBytes) else { throw Damage(description: "an impossible run") }
                index += Int(-value)
            } else {
                if value > 0 { counts.append((index, UInt64(value))) }
                index += 1
                guard UInt64(value) <= mostSamples - total else {
                    throw Damage(description: "more samples than a trial can take")
                }
                total += UInt64(value)
            }
        }
        return counts
    }
}

// Big-endian integers, ZigZag, and LEB128 of at most nine bytes of which the ninth has eight bits.
extension HistogramCode {
    private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes += $0 }
    }

    private static func append(_ value: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: (value << 1) ^ (value >> 63))
        for _ in 0..<8 {
            guard rest >= 0x80 else { break }
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private struct Bytes {
        private let bytes: [UInt8]
        private var place = 0

        init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

        var left: Int { bytes.count - place }
        var rest: ArraySlice<UInt8> { bytes[place...] }

        mutating func integer(_ count: Int) -> UInt64? {
            guard left >= count else { return nil }
            defer { place += count }
            return bytes[place..<place + count].reduce(0) { $0 << 8 | UInt64($1) }
        }

        mutating func varint() -> Int64? {
            var value: UInt64 = 0
            for position in 0..<9 {
                guard left > 0 else { return nil }
                let byte = UInt64(bytes[place])
                place += 1
                value |= (position == 8 ? byte : byte & 0x7F) << (7 * UInt64(position))
                if position == 8 || byte < 0x80 { break }
            }
            return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
        }
    }
}
