// Reads a table of a snapshot where the engine has mapped it. Pages of a snapshot do not change as long as it is held, so
// that takes no cursor, no lock, and a fraction of the instructions.
//
// A row that is not found here is asked of the engine, which finds it or reports what is wrong (RangeCheck.swift). Where all rows are
// visited, a page that is not as expected (of no kind, of another number, beyond the file) is damage.
import CStillingWellLMDB
import StillingWellTree

/// A row that a scan has come to, valid as long as what it was read from. Smaller than one that can be read: a scan writes one for each.
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

    /// - Parameter source: what it was read from.
    @inline(__always)
    func row(_ source: UnsafeRawPointer) -> RowReader { RowReader(unchecked: base, byteCount, source) }
}

/// The tree of one table. Any thread, as long as the snapshot is held.
struct PageTree {
    enum Outcome {
        case finished, stopped
        /// A page is not as expected; the rows before have been visited.
        case unreadable
    }

    /// As deep as the engine's own cursors go.
    private static let maxDepth = 32

    /// Where the file's first page is mapped.
    let map: UnsafeRawPointer
    /// The last page there is.
    let lastPage: UInt64
    let root: UInt64

    private func page(_ number: UInt64) -> MappedPage? {
        number <= lastPage ? MappedPage(map + Int(number) * MappedPage.bytes, number) : nil
    }

    // MARK: One row

    /// The value of a key; nil where there is none, or where the engine has to be asked. O(log n).
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

    @inline(__always)
    private func value(_ page: MappedPage, _ index: Int) -> UnsafeRawBufferPointer? {
        let entry = page.entry(index)
        return entry.hasOwnPages ? ownPages(entry) : page.value(entry)
    }

    /// A value that is too large for a page, in pages of its own.
    @inline(never)
    private func ownPages(_ entry: MappedPage.Entry) -> UnsafeRawBufferPointer? {
        guard let number = entry.firstOwnPage, number <= lastPage else { return nil }
        let base = map + Int(number) * MappedPage.bytes
        guard let pages = MappedPage.ownPages(at: base, number), pages <= lastPage - number + 1,
            entry.byteCount <= Int(pages) * MappedPage.bytes - MappedPage.headerBytes
        else { return nil }
        return UnsafeRawBufferPointer(start: base + MappedPage.headerBytes, count: entry.byteCount)
    }

    // MARK: All rows

    /// Visits rows in order of their ids, those of a page at once and none of them checked, until `body` returns false.
    /// - Parameters:
    ///   - next: the first id to be visited; afterwards, the first one that has not been.
    ///   - take: is asked to do with a page what `body` would do with its rows; false where it has done nothing.
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
            // Only where the way down has led may all rows be before the first that is asked for. A page that is led to again
            // would be nothing but passed, over and over.
            guard let last = rows.last?.id.rawValue else { return isFirst ? .finished : .unreadable }
            // One whose rows do not ascend would lead back.
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

    /// What has pages of its own; nil where it is not as expected.
    @inline(never)
    private func otherEntry(_ page: MappedPage, _ index: Int) -> (id: UInt64, base: UnsafeRawPointer, count: Int)? {
        guard let bytes = value(page, index), let base = bytes.baseAddress else { return nil }
        return (page.entry(index).id, base, bytes.count)
    }

    /// The rows of a leaf, from an id on; nil where one of them is not as expected.
    private func gather(
        _ page: MappedPage, from first: UInt64, _ buffer: UnsafeMutableBufferPointer<ScannedRow>
    ) -> UnsafeBufferPointer<ScannedRow>? {
        guard let out = buffer.baseAddress else { return nil }
        var used = 0
        // A scan comes to a page from its first row on.
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
