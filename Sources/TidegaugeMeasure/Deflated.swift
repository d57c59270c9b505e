// Compresses and decompresses buffers with zlib. Pure.
import CTidegaugeZlib

public enum Deflated {
    /// Error for data that cannot be decompressed.
    public struct Damage: Error, CustomStringConvertible, Equatable {
        public var description: String
    }

    /// - Parameter level: 1 (fastest) to 9 (smallest).
    public static func pack(_ bytes: [UInt8], level: Int32 = 9) -> [UInt8] {
        var length = compressBound(uLong(bytes.count))
        var packed = [UInt8](repeating: 0, count: Int(length))
        let code = compress2(&packed, &length, bytes, uLong(bytes.count), level)
        precondition(code == Z_OK, "zlib refused a buffer of the size it asked for (code \(code))")
        return Array(packed.prefix(Int(length)))
    }

    /// Maximum ratio of decompressed to compressed bytes in zlib.
    private static let mostExpansion = 1_032

    /// - Parameter mostBytes: maximum decompressed size; more is damage, so that memory use is bounded.
    public static func unpack(_ packed: some Collection<UInt8>, mostBytes: Int) throws(Damage) -> [UInt8] {
        let room = max(min(mostBytes, packed.count * mostExpansion), 1)
        var length = uLong(min(mostBytes, room))
        var bytes = [UInt8](repeating: 0, count: room)
        guard uncompress(&bytes, &length, Array(packed), uLong(packed.count)) == Z_OK else {
            throw Damage(description: "what zlib cannot inflate")
        }
        return Array(bytes.prefix(Int(length)))
    }
}
