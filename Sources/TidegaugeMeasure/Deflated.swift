// Bytes through zlib: one buffer in, one buffer out. Pure.
import CTidegaugeZlib

public enum Deflated {
    /// What could not be inflated.
    public struct Damage: Error, CustomStringConvertible, Equatable {
        public var description: String
    }

    /// - Parameter level: 1, which is quick, to 9, which packs best.
    public static func pack(_ bytes: [UInt8], level: Int32 = 9) -> [UInt8] {
        var length = compressBound(uLong(bytes.count))
        var packed = [UInt8](repeating: 0, count: Int(length))
        let code = compress2(&packed, &length, bytes, uLong(bytes.count), level)
        precondition(code == Z_OK, "zlib refused a buffer of the size it asked for (code \(code))")
        return Array(packed.prefix(Int(length)))
    }

    /// The most bytes that zlib makes of one.
    private static let mostExpansion = 1_032

    /// - Parameter mostBytes: longer ones are damage, so that no packed text takes all memory.
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
