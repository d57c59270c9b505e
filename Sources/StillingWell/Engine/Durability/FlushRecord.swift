// Record of the last flush in `durable.mdb`: LMDB's header of the flushed version. Two places are written in turn, each
// a sector with a checksum, so that one is whole while the other is written. Pure functions, except for the boot id.
//
//     0 magic (8), 8 number (8), 16 boot (16), 32 transaction (8), 40 bytes of a page (8), 48 token (8),
//     56 the header, from byte 16 of its page on (136), 192 checksum of the roots (4), 196 checksum of all before (4)
import CStillingWellPlatform
import Glibc

/// Identity of a run of the machine. While it lasts, the system has everything written, even if it was not flushed.
package struct BootID: Equatable, Sendable {
    let high: UInt64
    let low: UInt64

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Boot id of this machine, or nil if the system does not provide one.
    package static let current: BootID? = KernelFile.first("/proc/sys/kernel/random/boot_id") { fields in
        // Not by `Character` and `UInt64(_:radix:)`: their first use took 5 % of an opening.
        var (high, low, digits): (UInt64, UInt64, Int) = (0, 0, 0)
        for byte in (fields.first ?? "").utf8 {
            let digit: UInt8
            switch byte | 0x20 {
            case 0x30...0x39: digit = byte & 0xf
            case 0x61...0x66: digit = (byte & 0xf) + 9
            default: continue
            }
            (high, low, digits) = (high << 4 | low >> 60, low << 4 | UInt64(digit), digits + 1)
        }
        return digits == 32 ? BootID(high: high, low: low) : nil
    }
}

struct FlushRecord: Equatable {
    static let places = 2
    /// Distance of the two places, so that no write touches both.
    static let strideBytes = 4_096
    private static let magic: UInt64 = 0x4c53_6475_7261_0001  // "LSdura", 1
    private static let rootsOffset = 192
    private static let sumOffset = 196
    private static let headOffset = 56
    static let bytes = 512
    /// Largest valid number. No store reaches it, so a larger number is damage.
    static let mostNumber = UInt64.max / 4
    /// Part of a header page that the record stores: from LMDB's magic number to its transaction.
    static let header = 16..<152

    /// Number of the record: the larger one is newer.
    var number: UInt64
    /// Boot during which the record was written, or nil if that is unknown.
    var boot: BootID?
    let transaction: UInt64
    let pageBytes: Int
    /// Random token of the flush, which also stands in the file's marks (FlushMark.swift).
    let token: UInt64
    /// Checksum of the root pages of both B-trees.
    let rootsSum: UInt32
    let header: [UInt8]

    var place: Int { Int(number % UInt64(Self.places)) }

    /// Number of the next record. It is written to the place that does not have the record `kept`.
    /// - Parameters:
    ///   - begun: the largest number of a record or of an unfinished flush.
    ///   - kept: the number of the record that is valid until the next one is written.
    static func nextNumber(after begun: UInt64, keeping kept: UInt64) -> UInt64 {
        let next = max(begun, kept) + 1
        return (next - kept).isMultiple(of: UInt64(places)) ? next + 1 : next
    }

    var encoded: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.bytes)
        bytes.withUnsafeMutableBytes { bytes in
            let words = [Self.magic, number, boot?.high ?? 0, boot?.low ?? 0, transaction, UInt64(pageBytes), token]
            for (index, word) in words.enumerated() {
                bytes.storeBytes(of: word, toByteOffset: index * 8, as: UInt64.self)
            }
            bytes.storeBytes(of: rootsSum, toByteOffset: Self.rootsOffset, as: UInt32.self)
            bytes[Self.headOffset..<Self.headOffset + header.count].copyBytes(from: header)
            let sum = Self.sum(of: UnsafeRawBufferPointer(rebasing: bytes[..<Self.sumOffset]))
            bytes.storeBytes(of: sum, toByteOffset: Self.sumOffset, as: UInt32.self)
        }
        return bytes
    }

    init(
        number: UInt64, boot: BootID?, transaction: UInt64, pageBytes: Int, token: UInt64, rootsSum: UInt32,
        header: [UInt8]
    ) {
        (self.number, self.boot, self.transaction, self.pageBytes) = (number, boot, transaction, pageBytes)
        (self.token, self.rootsSum, self.header) = (token, rootsSum, header)
    }

    /// Returns nil if the bytes are no record, or an incomplete one.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.bytes,
            bytes.loadUnaligned(fromByteOffset: Self.sumOffset, as: UInt32.self)
                == Self.sum(of: UnsafeRawBufferPointer(rebasing: bytes[..<Self.sumOffset]))
        else { return nil }
        func word(_ index: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
        guard word(0) == Self.magic, word(1) <= Self.mostNumber, let pageBytes = Int(exactly: word(5)) else {
            return nil
        }
        let boot = BootID(high: word(2), low: word(3))
        self.init(
            number: word(1), boot: boot == BootID(high: 0, low: 0) ? nil : boot, transaction: word(4),
            pageBytes: pageBytes, token: word(6),
            rootsSum: bytes.loadUnaligned(fromByteOffset: Self.rootsOffset, as: UInt32.self),
            header: Array(bytes[Self.headOffset..<Self.headOffset + Self.header.count]))
    }

    /// Returns whether the record is of this boot, so that everything written since is still there.
    func isOfSameBoot(_ other: BootID?) -> Bool { boot != nil && boot == other }

    /// First sector of a header page with the recorded header. LMDB does not use the rest of the page.
    func sector(_ number: Int) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: FlushMark.offset)
        page[0] = UInt8(number)
        // Page kind of a meta page, at its offset.
        page[10] = 8
        page.replaceSubrange(Self.header, with: header)
        return page
    }

    /// Checksum of the root pages of two trees; nil for an empty tree.
    static func sum(_ roots: [[UInt8]?]) -> UInt32 {
        roots.reduce(0) { sum, page in
            cp_crc32c_word(page.map { $0.withUnsafeBytes { Self.sum(of: $0) } } ?? 0, UInt64(sum))
        }
    }

    static func sum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        cp_crc32c_entry(magic, UInt64(bytes.count), bytes.baseAddress, UInt(bytes.count))
    }
}
