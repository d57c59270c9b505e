// A list property of values or of objects. In an object that is not stored it is an array. In a stored object it is
// rows and live like results: deliveries and the connection's own writes change it.

/// An ordered list of values or objects that belongs to an object. It may contain an element more than once.
///
/// A list is a view of its object's property: changing it changes the property. The list of a stored object is changed
/// inside a write block and used on the object's connection only. An error makes the write fail. In a stored object,
/// changing one element and reading by index cost O(log n).
public struct List<Element: ListElement>: RandomAccessCollection, ExpressibleByArrayLiteral {
    let box: ListBox<Element>
    private let owner: StoredObject?
    private let ordinal: Int

    init(_ box: ListBox<Element>, _ owner: StoredObject, _ ordinal: Int) {
        self.box = box
        self.owner = owner
        self.ordinal = ordinal
    }

    /// Makes a list that belongs to no object yet, to set a property to.
    public init(arrayLiteral elements: Element...) {
        box = ListBox(elements)
        owner = nil
        ordinal = -1
    }

    private var stored: StoredList? { owner?.binding.map { StoredList($0, ordinal) } }

    private func query(_ list: StoredList) -> ListQuery {
        // An object whose addition was cancelled may get another id when it is added again.
        box.belong(to: list.binding.id)
        return box
    }

    private func rows(_ list: StoredList) -> ListRows { ListRows(list, query(list)) }

    // MARK: Reading

    /// Number of elements. O(1), except for the first read and the first one after a change or a delivery.
    public var count: Int { stored.map { rows($0).count } ?? box.elements.count }
    @_documentation(visibility: internal)
    public var startIndex: Int { 0 }
    @_documentation(visibility: internal)
    public var endIndex: Int { count }

    /// The element at `position`. Setting replaces it. O(log n).
    public subscript(position: Int) -> Element {
        get {
            guard let stored else {
                checkIndex(position, of: box.elements.count, "elements of this list of \(Element.self)")
                return box.elements[position]
            }
            let rows = rows(stored)
            checkIndex(position, of: rows.count(near: position), stored.whatItHas)
            return element(stored, rows, rows.id(at: position))
        }
        nonmutating set {
            guard let stored else { return box.elements[position] = newValue }
            stored.change { try stored.set(newValue._prepared(stored.connection), at: position, query(stored)) }
        }
    }

    /// - Parameter id: id of the element's row; nil if it cannot be read.
    private func element(_ list: StoredList, _ rows: ListRows, _ id: UInt64?) -> Element {
        if let element = id.flatMap({ shown(list, $0) }) ?? unreadable(list) { return element }
        if list.connection.transaction != nil || rows.areCurrent { list.noteLostElement() }
        return nothing(list)
    }

    /// Returns a placeholder if reads have failed, otherwise nil. The block that reads it will throw when it ends.
    private func unreadable(_ list: StoredList) -> Element? { list.connection.hasFailedReads ? nothing(list) : nil }

    /// Returns a placeholder: nil, zero, or an object whose row does not exist.
    private func nothing(_ list: StoredList) -> Element {
        let none = RowReader(UnsafeRawBufferPointer(start: nil, count: 0))
        return Element._element(none, ListTable.value, list.connection, list.table)
    }

    /// Returns the element of a row, or nil if it was removed or cannot be read.
    private func shown(_ list: StoredList, _ id: UInt64) -> Element? {
        list.row(id).map { Element._element($0, ListTable.value, list.connection, list.table) }
    }

    /// Iterates over the elements shown now. Changes made by the loop body do not make it skip or repeat one. In a
    /// `store.write` block, elements that the body removes are not visited, such as a second occurrence of an object
    /// that is deleted at the first. On a live connection they are visited if its delivered version has them.
    public func makeIterator() -> AnyIterator<Element> {
        guard let stored else { return AnyIterator(box.elements.makeIterator()) }
        let connection = stored.connection
        let rows = rows(stored)
        var ids = rows.ids.makeIterator()
        let epoch = connection.rowEpoch
        return AnyIterator {
            while let id = ids.next() {
                if let element = shown(stored, id) ?? unreadable(stored) { return element }
                // An element added by this connection since its last delivery may have been removed by another writer.
                if connection.rowEpoch == epoch, connection.transaction == nil, rows.areCurrent {
                    stored.noteLostElement()
                }
            }
            return nil
        }
    }

    /// Used by `Array(list)`. May have fewer elements than `count` if another writer removed some, or if some cannot be
    /// read.
    public func _copyToContiguousArray() -> ContiguousArray<Element> { ContiguousArray(gathering: makeIterator()) }

    // MARK: Changing

    /// Appends an element. O(log n).
    public func append(_ element: Element) { append(contentsOf: CollectionOfOne(element)) }

    /// Appends elements in order. O(log n) each.
    public func append(contentsOf elements: some Sequence<Element>) {
        // Copied before the array is changed, because the sequence may read from it.
        guard let stored else { return box.elements.append(contentsOf: Array(elements)) }
        stored.change { try stored.append(elements.map { try $0._prepared(stored.connection) }) }
    }

    /// Inserts before the element at `index`, which may be the end. Many insertions at one position in the middle
    /// lengthen the stored positions by about one bit each.
    public func insert(_ element: Element, at index: Int) {
        guard let stored else { return box.elements.insert(element, at: index) }
        stored.change { try stored.insert(element._prepared(stored.connection), at: index, query(stored)) }
    }

    /// Removes the element at `index` from the list. An object stays in the store.
    public func remove(at index: Int) {
        guard let stored else {
            box.elements.remove(at: index)
            return
        }
        stored.change { try stored.remove(at: index, query(stored)) }
    }

    /// Removes the first element. The list must not be empty.
    public func removeFirst() { remove(at: 0) }

    /// Removes the last element. The list must not be empty.
    public func removeLast() { remove(at: count - 1) }

    /// Removes all elements. O(n log n) in a stored object.
    public func removeAll() {
        guard let stored else { return box.elements.removeAll() }
        let count = count
        stored.change { try stored.remove(0..<count, query(stored)) }
    }

    /// Moves an element so that its index is `target` afterwards.
    public func move(from source: Int, to target: Int) {
        guard let stored else { return box.elements.insert(box.elements.remove(at: source), at: target) }
        stored.change { try stored.move(from: source, to: target, query(stored)) }
    }

    /// Exchanges two elements.
    public func swapAt(_ first: Int, _ second: Int) {
        guard let stored else { return box.elements.swapAt(first, second) }
        stored.change { try stored.swap(first, second, query(stored)) }
    }

    // MARK: Observing

    /// Calls `body` on the connection's scheduler: once with `.initial`, then with every change of the list and of its
    /// objects, until the token is invalidated. One change may cover several commits.
    /// - Throws: `noScheduler` on a connection without a delivery context, `notStored`, `closed`, `openedBeforeFork`.
    public func observe(
        file: String = #fileID, line: Int = #line, _ body: @escaping (ListChange<Element>) -> Void
    ) throws -> NotificationToken {
        let (connection, query) = try observed()
        return try connection.observe(query, madeAt: "\(file):\(line)") { change in
            switch change {
            case .initial: body(.initial(self))
            case .update(let known, _): body(.update(self, known.changes))
            case .failed(let error): body(.error(error))
            }
        }
    }

    func observed() throws(StoreError) -> (Connection, ConnectionQuery) {
        guard let stored else { throw .notStored(type: owner.map { "\(type(of: $0))" } ?? "List") }
        return (stored.connection, stored.query(query(stored)))
    }
}

extension List where Element: StoredObject {
    /// Returns the objects of the list that pass `condition`, live, in the list's order. An object that the list
    /// contains twice occurs twice. The results follow the list, its objects, and links that the condition reads.
    ///
    /// Sorted results keep the list's order for ties. `deletedIDs` in change sets are ids of list elements, as for the
    /// list itself. On the connection's scheduler. The first use reads all elements of the list.
    /// - Throws: `notStored` for the list of an object that is not stored, `unknownModel`.
    public func `where`(_ condition: Filter<Element>) throws -> Results<Element> { try results().where(condition) }

    /// Returns the objects of the list that pass a condition on their properties. Otherwise same as `where(_:)` with a
    /// filter.
    /// - Throws: `notStored`, `unknownModel`.
    public func `where`(_ condition: (QueriedProperties<Element>) -> Filter<Element>) throws -> Results<Element> {
        try results().where(condition)
    }

    /// Returns the objects of the list that pass a condition given as text. Otherwise same as `where(_:)` with a
    /// filter.
    /// - Throws: `notStored`, `unknownModel`, `invalidQuery`.
    public func `where`(_ text: String, _ arguments: (any QueryArgument)?...) throws -> Results<Element> {
        try results().refined(by: text, arguments)
    }

    /// Returns the objects of the list in another order, live. Otherwise same as `where(_:)`. O(n log n) at first use.
    /// - Throws: `notStored` for the list of an object that is not stored, `unknownModel`.
    public func sorted<Value: StorableValue>(
        by keyPath: KeyPath<Element, Value>, ascending: Bool = true
    ) throws -> Results<Element> { try results().sorted(by: keyPath, ascending: ascending) }

    /// Returns the objects of the list in the order of several keys, live. Otherwise same as `where(_:)`. O(n log n) at
    /// first use.
    /// - Throws: `notStored` for the list of an object that is not stored, `unknownModel`.
    public func sorted(by keys: [SortKey<Element>]) throws -> Results<Element> { try results().sorted(by: keys) }

    private func results() throws -> Results<Element> {
        guard let stored else { throw StoreError.notStored(type: owner.map { "\(type(of: $0))" } ?? "List") }
        let table = try stored.connection.core.storage.table(of: Element.self)
        return Results(stored.connection, table, Refinement(list: stored.source))
    }
}

extension List where Element: Equatable {
    /// Returns the first index of `element`, or nil. O(n).
    public func index(of element: Element) -> Int? { firstIndex(of: element) }
}

extension List where Element: StoredObject {
    /// Returns the first index of `object`, or nil. O(log n) for each element that links to it, in this property's
    /// lists of all objects. O(n) for a list that is not stored. O(n) also in a write on a live connection, and until
    /// its commit is delivered, if the list is observed or another writer has changed this property's lists.
    /// - Throws: `otherStore` if the list is in another store than the object; `storage`, `damaged`.
    public func index(of object: Element) throws -> Int? {
        guard let binding = object.binding else { return firstIndex { $0 === object } }
        guard let stored else { return firstIndex { $0.isSame(as: object, binding) } }
        try stored.connection.checkIsOfStore(binding)
        let rows = rows(stored)
        if let index = stored.linkIndex(for: binding, rows) { return try stored.place(of: binding, by: index, rows) }
        return firstIndex { $0.isSame(as: object, binding) }
    }
}

extension StoredObject {
    fileprivate func isSame(as object: StoredObject, _ binding: RowBinding) -> Bool {
        self === object || self.binding.map { $0.id == binding.id && $0.home == binding.home } ?? false
    }
}
