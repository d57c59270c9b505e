// Commits of one writer as a host sends them: split into parts, each compressed. Both processes run the same binary,
// so records have their memory layout. Pure.
import TidegaugeMeasure

struct HostRecords: Sendable, Equatable {
    /// Maximum number of records in a part: 2.6 MB before compression.
    static let mostPerPart = 1 << 16
    private static let stride = MemoryLayout<CommitRecord>.stride

    var writer: Int
    var records: [CommitRecord]

    /// Returns the frames of a writer's commits in order; at least one.
    static func frames(writer: Int, _ records: some RandomAccessCollection<CommitRecord>) -> [HostFrame] {
        var frames: [HostFrame] = []
        var rest = records[...]
        repeat {
            let part = Array(rest.prefix(mostPerPart))
            rest = rest.dropFirst(part.count)
            let header = HostFrame(.records, integers: [Int64(writer), Int64(part.count)])
            let packed = part.withUnsafeBytes { Deflated.pack(Array($0), level: 1) }
            frames.append(HostFrame(kind: .records, payload: header.payload + packed))
        } while !rest.isEmpty
        return frames
    }

    init(_ frame: HostFrame) throws(HostFrame.Damage) {
        let header = try HostFrame(kind: .records, payload: Array(frame.payload.prefix(16))).integers(2)
        guard (0...Int64(Self.mostPerPart)).contains(header[1]) else {
            throw .unreadable(.records, reason: "\(header[1]) records")
        }
        let count = Int(header[1])
        let bytes: [UInt8]
        do {
            bytes = try Deflated.unpack(frame.payload.dropFirst(16), mostBytes: count * Self.stride)
        } catch {
            throw .unreadable(.records, reason: error.description)
        }
        guard bytes.count == count * Self.stride else {
            throw .unreadable(.records, reason: "\(bytes.count) bytes of \(count) records")
        }
        writer = Int(header[0])
        // The initializer below writes to the storage shared by all empty arrays, which ThreadSanitizer reports.
        records =
            count == 0
            ? []
            : [CommitRecord](unsafeUninitializedCapacity: count) { buffer, initialized in
                UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes)
                initialized = count
            }
    }
}
