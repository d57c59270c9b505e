// Marks the store's file with the last flush, so that a flush record can be matched to the file. A mark lies behind
// LMDB's header, in the second sector of the first two pages, which LMDB does not write once it has made the file.
// Page 0 has the flush that began last, page 1 the flush that ended last. Pure functions.
//
// A flush marks the file before the data is flushed, and again once its record is on the disk. So the disk has no
// record without a mark in the file. A file that was restored from a copy, or was written without its record, has the
// mark of another flush, or none.
//
//     512 magic (8), 520 number (8), 528 token of the flush that ended last (8), 536 of the one that began last (8),
//     544 checksum of those (4)

struct FlushMark: Equatable {
    static let places = 2
    /// Offset in its page.
    static let offset = 512
    static let bytes = 36
    private static let magic: UInt64 = 0x4c53_6d61_726b_0001  // "LSmark", 1

    /// Number of the mark: the larger one is newer.
    let number: UInt64
    /// Token of the flush that ended last; 0 for none.
    let ended: UInt64
    let begun: UInt64

    /// Mark of a flush that begins and has no record yet.
    /// - Parameter last: token of the flush before.
    static func begin(_ record: FlushRecord, after last: UInt64) -> FlushMark {
        FlushMark(number: 2 * record.number, ended: last, begun: record.token)
    }

    /// Mark of a flush whose record is on the disk.
    static func end(_ record: FlushRecord) -> FlushMark {
        FlushMark(number: 2 * record.number + 1, ended: record.token, begun: record.token)
    }

    var place: Int { Int(number % UInt64(Self.places)) }
    /// Number of the flush record that belongs to the mark.
    var recordNumber: UInt64 { number / 2 }

    var encoded: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.bytes)
        bytes.withUnsafeMutableBytes { bytes in
            for (index, word) in [Self.magic, number, ended, begun].enumerated() {
                bytes.storeBytes(of: word, toByteOffset: index * 8, as: UInt64.self)
            }
            let sum = FlushRecord.sum(of: UnsafeRawBufferPointer(rebasing: bytes[..<32]))
            bytes.storeBytes(of: sum, toByteOffset: 32, as: UInt32.self)
        }
        return bytes
    }

    private init(number: UInt64, ended: UInt64, begun: UInt64) {
        (self.number, self.ended, self.begun) = (number, ended, begun)
    }

    /// Returns nil if the bytes are no mark, or an incomplete one.
    init?(_ bytes: UnsafeRawBufferPointer) {
        func word(_ index: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
        guard bytes.count == Self.bytes, word(0) == Self.magic, word(1) / 2 <= FlushRecord.mostNumber,
            bytes.loadUnaligned(fromByteOffset: 32, as: UInt32.self)
                == FlushRecord.sum(of: UnsafeRawBufferPointer(rebasing: bytes[..<32]))
        else { return nil }
        self.init(number: word(1), ended: word(2), begun: word(3))
    }
}

/// Both marks of a file.
struct FlushMarks {
    private(set) var newest: FlushMark?
    /// Whether a mark is damaged, incomplete or unreadable, as after a crash. Then the marks cannot rule out a record.
    private(set) var isTorn = false

    /// - Parameter pages: the first two pages of the file; nil for one that cannot be read.
    init(_ pages: [[UInt8]?]) {
        let end = FlushMark.offset + FlushMark.bytes
        for page in pages {
            guard let page, page.count >= end else {
                isTorn = true
                continue
            }
            let bytes = page[FlushMark.offset..<end]
            if bytes.allSatisfy({ $0 == 0 }) { continue }
            guard let mark = Array(bytes).withUnsafeBytes({ FlushMark($0) }) else {
                isTorn = true
                continue
            }
            if mark.number >= newest?.number ?? 0 { newest = mark }
        }
    }

    /// Returns whether a record may be that of the last flush.
    func allow(_ record: FlushRecord) -> Bool {
        guard !isTorn else { return true }
        return record.token != 0 && (record.token == newest?.ended || record.token == newest?.begun)
    }
}
