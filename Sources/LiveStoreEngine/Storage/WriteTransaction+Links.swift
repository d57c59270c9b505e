// What a change of a row means beyond it: its entries in secondary indexes, and, when it is deleted, the links and list
// elements that lead to it. In the same transaction, and logged as changes of the rows they are.
import CLMDB

/// How one index entry of a row changes; nil where there is none.
struct IndexChange {
    let index: ColumnIndex
    let old: [UInt8]?
    let new: [UInt8]?
}

extension WriteTransaction {
    /// What changes in the indexes when one state of a row becomes another. Copies: the rows may change afterwards.
    func changedKeys(_ links: TableLinks, from old: RowReader?, to new: RowReader?) -> [IndexChange] {
        links.indexes.compactMap { index in
            let before = old.flatMap { index.key($0) }
            let after = new.flatMap { index.key($0) }
            return before == after ? nil : IndexChange(index: index, old: before, new: after)
        }
    }

    func apply(_ changes: [IndexChange], _ id: ObjectID) throws(StoreError) {
        for change in changes {
            if let old = change.old {
                try storage.check(change.index.remove(transaction, key: old, id), "remove index entry")
            }
            if let new = change.new {
                let (code, place) = change.index.insert(transaction, key: new, id)
                try storage.check(code, "store index entry")
                if storage.durability == .memory, let place { try storage.stored(at: place) }
            }
        }
    }

    /// Sets links to a deleted object to nil, takes it out of lists, and deletes the elements of its own lists.
    func cutLinks(_ links: TableLinks, to id: ObjectID) throws(StoreError) {
        for edge in links.incoming {
            guard let holder = storage.tablesByID[edge.elements ?? edge.source] else { continue }
            // Elements whose owner is gone go with it, below; those of other lists are found by their value.
            if edge.isOwner || edge.elements == nil && holder.links?.listOwner != nil { continue }
            for source in ids(edge.index, linkingTo: id) {
                if edge.elements == nil {
                    try update(holder, source, edge.column) { $0.setNull(edge.column) }
                } else {
                    try removeElement(holder, source)
                }
            }
        }
        for list in links.lists {
            guard let elements = storage.tablesByID[list.elements] else { continue }
            for element in ids(list.ownerIndex, linkingTo: id) { try delete(elements, element) }
        }
    }

    /// Takes an element out of its list; one that is gone already is left alone.
    func removeElement(_ elements: Table, _ element: ObjectID) throws(StoreError) {
        try closeRow()
        guard let owner = row(elements, element).map({ ObjectID(rawValue: $0.slot(ListTable.owner)) }),
            let place = elements.links?.listOwner, let table = storage.tablesByID[place.table]
        else { return }
        try delete(elements, element)
        // The list may go because its owner does.
        if row(table, owner) != nil { _ = try countChanges(1, table, owner, place.column) }
    }

    /// Notes `count` changes of a list in its owner's row, so that whoever watches the row hears of them.
    /// - Returns: the number of the last change.
    package func countChanges(
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
    package func reading<Result>(or fallback: @autoclosure () -> Result, _ body: EngineRead<Result>) -> Result {
        do throws(StoreError) {
            try closeRow()
            return try storage.reading("read") { () throws(EngineFailure) in try body(transaction) }
        } catch {
            fail(error)
            return fallback()
        }
    }
}
