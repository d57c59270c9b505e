// Identifies a binary by its file: by CRC-32 and size to tell builds apart, and by SHA-256 to prove to a host that two
// are the same.
import CTidegaugeZlib
import Foundation
import StillingWellBasis
import TidegaugeSpec

public enum Fingerprint {
    /// CRC-32 and size of the running binary, such as `1a2b3c4d-31457280`, even if its file was replaced; `unknown`
    /// if it is not readable. Takes about 0.1 s per 100 MB.
    public static func ofThisBinary() -> String { of("/proc/self/exe") }

    /// SHA-256 of the running binary's file in hexadecimal, with which a host proves that its binary is the same.
    /// Takes about 0.33 s per 100 MB.
    /// - Throws: if the file is not readable.
    public static func sha256OfThisBinary() throws -> String {
        let path = "/proc/self/exe"
        guard let file = FileHandle(closedOnExec: path, O_RDONLY) else {
            throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: path])
        }
        defer { try? file.close() }
        var digest = SHA256()
        while let part = try file.read(upToCount: 1 << 20), !part.isEmpty { part.withUnsafeBytes { digest.update($0) } }
        return digest.hexadecimal()
    }

    /// Returns the fingerprint of any file.
    public static func of(_ path: String) -> String {
        guard let file = FileHandle(closedOnExec: path, O_RDONLY) else { return "unknown" }
        defer { try? file.close() }
        var checksum = crc32(0, nil, 0)
        var size = 0
        while let part = try? file.read(upToCount: 1 << 20), !part.isEmpty {
            checksum = part.withUnsafeBytes { bytes in
                crc32(checksum, bytes.bindMemory(to: UInt8.self).baseAddress, uInt(bytes.count))
            }
            size += part.count
        }
        return String(format: "%08x-%d", UInt32(truncatingIfNeeded: checksum), size)
    }
}
