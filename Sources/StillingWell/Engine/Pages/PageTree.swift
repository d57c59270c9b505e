// Reads a table of a snapshot directly in LMDB's map. Pages of a held snapshot do not change, so this takes no cursor
// and no lock, and a fraction of the instructions.
//
// A row that is not found here is looked up by LMDB. If LMDB does not find it either, RangeCheck.swift tells a missing
// row from a damaged page. In a scan, a page that is not as expected is damage: of another kind, with another number,
// or beyond the end of the file.
import CStillingWellLMDB
import StillingWellTree

/// A row met by a scan. Has no source of large values, to be smaller: a scan writes one per row.
struct ScannedRow {
    let id: ObjectID
    private let base: UnsafeRawPointer
    private let byteCount: Int

    @inline(__always)
    init(id: ObjectID, _ base: UnsafeRawPointer, _ byteCount: Int) {
        (self.id, self.base, self.byteCount) = (id, base, byteCount)
    }

    init(id: ObjectID, _ row: RowReader) { self.init(id: id, row.base, row.byteCount) }

    var image: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }

    /// - Parameter source: the `LargeValueSource` of the scan's snapshot.
    @inline(__always)
    func row(_ source: UnsafeRawPointer) -> RowReader { RowReader(unchecked: base, byteCount, source) }
}

/// The B-tree of one table. Usable from any thread while the snapshot is held.
struct PageTree {
    enum Outcome {
        case finished, stopped
        /// A page is not as expected. The rows before it were visited.
        case unreadable
    }

    /// Maximum depth of the tree, the same as of LMDB's cursors.
    private static let maxDepth = 32

    /// Address of the file's first page.
    let map: UnsafeRawPointer
    /// Number of the file's last page.
    let lastPage: UInt64
    let root: UInt64

    private func page(_ number: UInt64) -> MappedPage? {
        number <= lastPage ? MappedPage(map + Int(number) * MappedPage.bytes, number) : nil
    }

    // MARK: One row

    /// Value of a key, or nil if LMDB has to be asked. O(log n).
    @inline(__always)
    func value(_ key: some PageKey) -> UnsafeRawBufferPointer? {
        var number = root
        for _ in 0..<Self.maxDepth {
            guard let page = page(number) else { return nil }
            if !page.isBranch { return page.index(of: key).flatMap { value(page, $0) } }
            number = page.child(page.childIndex(key))
        }
        return nil
    }

    /// Values of a key of an index as `MappedPage.values`, or nil if LMDB has to be asked. O(log n).
    func values(_ key: NumberKey) -> (first: UnsafeRawBufferPointer, count: Int)? {
        var number = root
        for _ in 0..<Self.maxDepth {
            guard let page = page(number) else { return nil }
            if !page.isBranch { return page.index(of: key).flatMap { page.values(page.entry($0)) } }
            number = page.child(page.childIndex(key))
        }
        return nil
    }

    @inline(__always)
    private func value(_ page: MappedPage, _ index: Int) -> UnsafeRawBufferPointer? {
        let entry = page.entry(index)
        return entry.hasOwnPages ? ownPages(page, entry) : page.value(entry)
    }

    /// Value in overflow pages, or nil if they are malformed.
    @inline(never)
    private func ownPages(_ page: MappedPage, _ entry: MappedPage.Entry) -> UnsafeRawBufferPointer? {
        guard let number = page.firstOwnPage(entry), number <= lastPage else { return nil }
        let base = map + Int(number) * MappedPage.bytes
        guard let pages = MappedPage.ownPages(at: base, number), pages <= lastPage - number + 1,
            entry.byteCount <= Int(pages) * MappedPage.bytes - MappedPage.headerBytes
        else { return nil }
        return UnsafeRawBufferPointer(start: base + MappedPage.headerBytes, count: entry.byteCount)
    }

    // MARK: All rows

    /// Visits rows in order of their ids, a page at a time, until `body` returns false. Does not check the rows'
    /// checksums.
    /// - Parameters:
    ///   - next: the first id to visit; afterwards, the first id that was not visited.
    ///   - take: may process a whole page in place of `body`. Returns false if it did nothing.
    func forEachRun(
        from next: inout UInt64, taking take: (MappedPage) -> Bool, _ body: (UnsafeBufferPointer<ScannedRow>) -> Bool
    ) -> Outcome {
        withUnsafeTemporaryAllocation(of: ScannedRow.self, capacity: MappedPage.maxEntries) { buffer in
            visit(root, 0, isFirst: true, from: &next, buffer, take, body)
        }
    }

    private func visit(
        _ number: UInt64, _ depth: Int, isFirst: Bool, from next: inout UInt64,
        _ buffer: UnsafeMutableBufferPointer<ScannedRow>, _ take: (MappedPage) -> Bool,
        _ body: (UnsafeBufferPointer<ScannedRow>) -> Bool
    ) -> Outcome {
        guard depth < Self.maxDepth, let page = page(number) else { return .unreadable }
        if !page.isBranch {
            if next <= page.entry(0).id, case let last = page.entry(page.count &- 1).id, next <= last, take(page) {
                next = last &+ 1
                return .finished
            }
            guard let rows = gather(page, from: next, buffer) else { return .unreadable }
            // Only on the initial path may all rows lie before the first wanted id. Elsewhere, the page is linked
            // twice.
            guard let last = rows.last?.id.rawValue else { return isFirst ? .finished : .unreadable }
            // Rows that do not ascend would lead back.
            guard last >= next else { return .unreadable }
            next = last &+ 1
            return body(rows) ? .finished : .stopped
        }
        let first = page.childIndex(IDKey(id: next))
        for index in first..<page.count {
            let outcome = visit(
                page.child(index), depth + 1, isFirst: isFirst && index == first, from: &next, buffer, take, body)
            if outcome != .finished { return outcome }
        }
        return .finished
    }

    /// Id and value of an entry that is not plain, or nil if it is malformed.
    @inline(never)
    private func otherEntry(_ page: MappedPage, _ index: Int) -> (id: UInt64, base: UnsafeRawPointer, count: Int)? {
        guard let bytes = value(page, index), let base = bytes.baseAddress else { return nil }
        return (page.entry(index).id, base, bytes.count)
    }

    /// Rows of a leaf from an id on, or nil if one of them is malformed.
    private func gather(
        _ page: MappedPage, from first: UInt64, _ buffer: UnsafeMutableBufferPointer<ScannedRow>
    ) -> UnsafeBufferPointer<ScannedRow>? {
        guard let out = buffer.baseAddress else { return nil }
        var used = 0
        // A scan enters most pages at their first row.
        var index = first <= page.entry(0).id ? 0 : page.lowerBound(IDKey(id: first))
        while index < page.count {
            guard let (id, base, count) = page.plainEntry(index) ?? otherEntry(page, index) else { return nil }
            (out + used).initialize(to: ScannedRow(id: ObjectID(rawValue: id), base, count))
            used &+= 1
            index &+= 1
        }
        return UnsafeBufferPointer(start: out, count: used)
    }
}
