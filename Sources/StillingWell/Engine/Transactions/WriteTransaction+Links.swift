// Consequences of changing a row: its index entries, its place in the order of a list and, if it is deleted, the links
// and list elements that refer to it. Done in the same transaction and logged as changes of the affected rows.
import CStillingWellLMDB

/// Change of one index entry of a row. A nil key means no entry.
struct IndexChange {
    let index: ColumnIndex
    let old: [UInt8]?
    let new: [UInt8]?
}

/// Change of the position of a list element. A nil position means no place in the list.
struct PlaceChange {
    let order: ListOrder
    let owner: UInt64
    let old: [UInt8]?
    let new: [UInt8]?
}

/// Changes of index entries and list order between two states of a row. Holds copies, because rows may change.
struct FollowerChanges {
    fileprivate var keys: [IndexChange] = []
    var place: PlaceChange?

    init() {}

    init(_ links: TableLinks, from old: RowReader?, to new: RowReader?) {
        keys = links.indexes.compactMap { index in
            let before = old.flatMap { index.key($0) }
            let after = new.flatMap { index.key($0) }
            return before == after ? nil : IndexChange(index: index, old: before, new: after)
        }
        guard let order = links.order, let owner = (new ?? old)?.slot(ListTable.owner) else { return }
        let (before, after) = (old.map(Self.position), new.map(Self.position))
        if before != after { place = PlaceChange(order: order, owner: owner, old: before, new: after) }
    }

    private static func position(_ row: RowReader) -> [UInt8] { Array(row.bytes(ListTable.position)) }
}

extension WriteTransaction {
    func apply(_ changes: FollowerChanges, _ id: ObjectID) throws(StoreError) {
        for change in changes.keys {
            if let old = change.old {
                try storage.check(change.index.remove(transaction, key: old, id), "remove index entry")
            }
            if let new = change.new {
                let (code, place) = change.index.insert(transaction, key: new, id)
                try storage.check(code, "store index entry")
                if storage.durability == .memory, let place { try storage.stored(at: place) }
            }
        }
        guard let place = changes.place else { return }
        let ranks = RankWriter(order: place.order, owner: place.owner, transaction: transaction, storage: storage)
        try place.old?.withUnsafeBufferPointer { (position) throws(StoreError) in
            try ranks.remove(id, at: UnsafeRawBufferPointer(position))
        }
        try place.new?.withUnsafeBufferPointer { (position) throws(StoreError) in
            try ranks.insert(id, at: UnsafeRawBufferPointer(position))
        }
    }

    /// Sets links to a deleted object to nil, removes it from lists, and deletes the elements of its own lists.
    func cutLinks(_ links: TableLinks, to id: ObjectID) throws(StoreError) {
        for edge in links.incoming {
            guard let holder = storage.tablesByID[edge.elements ?? edge.source] else { continue }
            // Links of list elements are handled by the list's own edge.
            if edge.elements == nil, holder.links?.listOwner != nil { continue }
            let sources = ids(edge.index, linkingTo: id)
            if sources.isEmpty { continue }
            if edge.elements != nil {
                for source in sources { try removeElement(holder, source) }
                continue
            }
            try closeRow()
            // All entries of the index that lead to the object are under one key.
            try storage.check(edge.index.removeAll(transaction, linkingTo: id), "remove index entries")
            for source in sources { try clearLink(holder, source, edge.column) }
        }
        for list in links.lists {
            guard let elements = storage.tablesByID[list.elements] else { continue }
            let ranks = RankWriter(
                order: list.order, owner: id.rawValue, transaction: transaction, storage: storage)
            for element in try ranks.removeAll() { try delete(elements, element, isListed: false) }
        }
    }

    /// Removes an element from its list. Does nothing if it was removed already.
    func removeElement(_ elements: Table, _ element: ObjectID) throws(StoreError) {
        try closeRow()
        guard let owner = row(elements, element).map({ ObjectID(rawValue: $0.slot(ListTable.owner)) }),
            let place = elements.links?.listOwner, let table = storage.tablesByID[place.table]
        else { return }
        try delete(elements, element)
        // The owner may have been deleted already, if its deletion removes the list.
        if row(table, owner) != nil { _ = try countChanges(1, table, owner, place.column) }
    }

    /// Adds `count` changes of a list to the counter in its owner's row, so that observers of the row are notified.
    /// - Returns: the number of the last change.
    func countChanges(
        _ count: Int, _ table: Table, _ owner: ObjectID, _ column: Int
    ) throws(StoreError) -> UInt64 {
        var last: UInt64 = 0
        try update(table, owner, column) { row in
            last = row.reader.slot(column) &+ UInt64(count)
            row.setSlot(column, last)
        }
        return last
    }
}

extension WriteTransaction: RowSource {
    func bytes(ofLarge number: UInt64, sum: UInt32, byteCount: Int) -> UnsafeRawBufferPointer {
        do throws(StoreError) {
            return try storage.reading("read large value") { () throws(EngineFailure) in
                try storage.bytes(of: LargeValue(number: number, sum: sum, byteCount: byteCount), transaction)
            }
        } catch {
            fail(error)
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    func reading<Result>(or fallback: @autoclosure () -> Result, _ body: EngineRead<Result>) -> Result {
        do throws(StoreError) {
            try closeRow()
            return try storage.reading("read") { () throws(EngineFailure) in try body(transaction) }
        } catch {
            fail(error)
            return fallback()
        }
    }
}
