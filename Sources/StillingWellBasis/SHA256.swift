// SHA-256 after FIPS 180-4. Not used for security.
// Implemented here because swift-crypto would more than double the package's build time.

package struct SHA256 {
    private static let blockBytes = 64

    private var hash = Self.initialHash
    private var schedule = [UInt32](repeating: 0, count: 64)
    /// Bytes of the last, incomplete block.
    private var rest: [UInt8] = []
    private var byteCount: UInt64 = 0

    package init() {}

    /// Returns the digest of `bytes` as 64 lower-case hexadecimal digits. O(bytes).
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        var digest = SHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.hexadecimal()
    }

    /// Adds a part of the message, of any length.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        byteCount += UInt64(bytes.count)
        var bytes = bytes[...]
        if !rest.isEmpty {
            let missing = bytes.prefix(Self.blockBytes - rest.count)
            rest += missing
            bytes = bytes.dropFirst(missing.count)
            guard rest.count == Self.blockBytes else { return }
            rest.withUnsafeBytes { digest($0) }
            rest.removeAll(keepingCapacity: true)
        }
        while bytes.count >= Self.blockBytes {
            digest(UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.blockBytes)))
            bytes = bytes.dropFirst(Self.blockBytes)
        }
        rest += bytes
    }

    /// Ends the message, padded as in FIPS 180-4, section 5.1.1, and returns the digest.
    package mutating func hexadecimal() -> String {
        let bitCount = byteCount * 8
        var padding: [UInt8] = [0x80]
        padding.append(contentsOf: repeatElement(0, count: (119 - rest.count) % 64))
        for shift in stride(from: 56, through: 0, by: -8) {
            padding.append(UInt8(truncatingIfNeeded: bitCount >> shift))
        }
        padding.withUnsafeBytes { update($0) }
        return hash.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// Processes one block: section 6.2.2.
    private mutating func digest(_ block: UnsafeRawBufferPointer) {
        for t in 0..<16 {
            schedule[t] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: 4 * t, as: UInt32.self))
        }
        for t in 16..<64 {
            let a = schedule[t - 15]
            let b = schedule[t - 2]
            let sigma0 = Self.rotated(a, 7) ^ Self.rotated(a, 18) ^ (a >> 3)
            let sigma1 = Self.rotated(b, 17) ^ Self.rotated(b, 19) ^ (b >> 10)
            schedule[t] = schedule[t - 16] &+ sigma0 &+ schedule[t - 7] &+ sigma1
        }
        Self.compress(schedule, into: &hash)
    }

    private static func compress(_ schedule: [UInt32], into hash: inout [UInt32]) {
        var (a, b, c, d) = (hash[0], hash[1], hash[2], hash[3])
        var (e, f, g, h) = (hash[4], hash[5], hash[6], hash[7])
        for t in 0..<64 {
            let sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let choice = (e & f) ^ (~e & g)
            let first = h &+ sum1 &+ choice &+ roundConstants[t] &+ schedule[t]
            let sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ sum0 &+ majority)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { hash[index] &+= value }
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    /// The first 64 primes, from whose roots FIPS 180-4 takes its constants.
    private static let primes: [UInt32] = {
        var found: [UInt32] = []
        var candidate: UInt32 = 2
        while found.count < 64 {
            if found.allSatisfy({ candidate % $0 != 0 }) { found.append(candidate) }
            candidate += 1
        }
        return found
    }()

    /// Section 5.3.3: the first 32 bits of the fractional parts of the square roots of the first eight primes.
    private static let initialHash = primes.prefix(8).map { fraction(of: Double($0).squareRoot()) }

    /// Section 4.2.2: the same for the cube roots of all 64 primes.
    private static let roundConstants = primes.map { fraction(of: cubeRoot(Double($0))) }

    /// A double below 8 has 50 or more fractional bits, so its first 32 are exact.
    private static func fraction(of root: Double) -> UInt32 { UInt32((root - root.rounded(.down)) * 0x1p32) }

    /// Computes the root by Newton's iteration; doubles converge in well under 60 steps.
    private static func cubeRoot(_ value: Double) -> Double {
        var root = value / 2
        for _ in 0..<60 { root -= (root * root * root - value) / (3 * root * root) }
        return root
    }
}
