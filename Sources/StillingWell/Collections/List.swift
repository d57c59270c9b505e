// A list property as it is used: of values or of objects, in an order of its own. Of a plain object it is an array; of a
// stored one it is rows, live like results: it changes by deliveries and by the connection's own writes.

/// An ordered list of values or objects that belongs to an object. The same element may be in it more than once.
///
/// A list is a view of its object's property: changing it changes the property. Of a stored object it is changed inside a
/// write block, and used on the object's connection only; what goes wrong makes the write fail. Changes, and reading by
/// index, cost O(log n): the store keeps the order of each list.
public struct List<Element: ListElement>: RandomAccessCollection, ExpressibleByArrayLiteral {
    let box: ListBox<Element>
    private let owner: StoredObject?
    private let ordinal: Int

    init(_ box: ListBox<Element>, _ owner: StoredObject, _ ordinal: Int) {
        self.box = box
        self.owner = owner
        self.ordinal = ordinal
    }

    /// A list that belongs to no object yet: what a property starts with, or is set to.
    public init(arrayLiteral elements: Element...) {
        box = ListBox(elements)
        owner = nil
        ordinal = -1
    }

    private var stored: StoredList? { owner?.binding.map { StoredList($0, ordinal) } }

    private func query(_ list: StoredList) -> ListQuery {
        // An object whose addition was cancelled is another one when it is added again.
        box.belong(to: list.binding.id)
        return box
    }

    private func rows(_ list: StoredList) -> ListRows { ListRows(list, query(list)) }

    // MARK: Reading

    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    /// How many elements there are. O(1); O(log n) when the list is read first, after a change and after a delivery.
    public var count: Int { stored.map { rows($0).count } ?? box.elements.count }

    /// Setting replaces the element at the place. O(log n).
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

    /// - Parameter id: nil where it cannot be read.
    private func element(_ list: StoredList, _ rows: ListRows, _ id: UInt64?) -> Element {
        if let element = id.flatMap({ shown(list, $0) }) ?? unreadable(list) { return element }
        if list.connection.transaction != nil || rows.areCurrent { list.noteLostElement() }
        return nothing(list)
    }

    /// What is shown of elements that cannot be read until the block ends that is told of it.
    private func unreadable(_ list: StoredList) -> Element? { list.connection.hasFailedReads ? nothing(list) : nil }

    /// No value, or zero.
    private func nothing(_ list: StoredList) -> Element {
        let none = RowReader(UnsafeRawBufferPointer(start: nil, count: 0))
        return Element._element(none, ListTable.value, list.connection, list.table)
    }

    /// nil for an element that has been taken off.
    private func shown(_ list: StoredList, _ id: UInt64) -> Element? {
        list.row(id).map { Element._element($0, ListTable.value, list.connection, list.table) }
    }

    /// Goes over the elements shown now: what a loop does to them does not make it skip or repeat one, and it does not come
    /// to one that it has taken off, as an object's second place in the list when the object was deleted at its first.
    public func makeIterator() -> AnyIterator<Element> {
        guard let stored else { return AnyIterator(box.elements.makeIterator()) }
        let connection = stored.connection
        let rows = rows(stored)
        var ids = rows.ids.makeIterator()
        let epoch = connection.rowEpoch
        return AnyIterator {
            while let id = ids.next() {
                if let element = shown(stored, id) ?? unreadable(stored) { return element }
                // Others may have removed an element that this connection has added since its last delivery.
                if connection.rowEpoch == epoch, connection.transaction == nil, rows.areCurrent {
                    stored.noteLostElement()
                }
            }
            return nil
        }
    }

    /// What `Array(list)` asks for: what a loop comes to, which may be less than `count` where elements are lost.
    public func _copyToContiguousArray() -> ContiguousArray<Element> { ContiguousArray(gathering: makeIterator()) }

    // MARK: Changing

    /// Adds an element at the end. O(log n).
    public func append(_ element: Element) { append(contentsOf: CollectionOfOne(element)) }

    /// Adds elements at the end, in their order. O(log n) each.
    public func append(contentsOf elements: some Sequence<Element>) {
        // Before the array is changed: they may be read from it.
        guard let stored else { return box.elements.append(contentsOf: Array(elements)) }
        stored.change { try stored.append(elements.map { try $0._prepared(stored.connection) }) }
    }

    /// Inserts before the element at `index`, which may be the end. Many insertions at one place in the middle make its
    /// positions longer, by about a bit each.
    public func insert(_ element: Element, at index: Int) {
        guard let stored else { return box.elements.insert(element, at: index) }
        stored.change { try stored.insert(element._prepared(stored.connection), at: index, query(stored)) }
    }

    /// Takes the element at `index` off the list; an object stays in the store.
    public func remove(at index: Int) {
        guard let stored else {
            box.elements.remove(at: index)
            return
        }
        stored.change { try stored.remove(at: index, query(stored)) }
    }

    /// Takes the first element off the list, which must not be empty.
    public func removeFirst() { remove(at: 0) }

    /// Takes the last element off the list, which must not be empty.
    public func removeLast() { remove(at: count - 1) }

    /// Takes everything off the list. O(n).
    public func removeAll() {
        guard let stored else { return box.elements.removeAll() }
        let count = count
        stored.change { try stored.remove(0..<count, query(stored)) }
    }

    /// Moves an element so that it stands at `target` afterwards.
    public func move(from source: Int, to target: Int) {
        guard let stored else { return box.elements.insert(box.elements.remove(at: source), at: target) }
        stored.change { try stored.move(from: source, to: target, query(stored)) }
    }

    /// Lets two elements change places.
    public func swapAt(_ first: Int, _ second: Int) {
        guard let stored else { return box.elements.swapAt(first, second) }
        stored.change { try stored.swap(first, second, query(stored)) }
    }

    // MARK: Observing

    /// Calls `body` on the connection's scheduler: once with `.initial`, then with every change of the list, and of the
    /// objects in it, until the token is invalidated. Several commits may come as one change.
    /// - Throws: `noScheduler` on a connection that lives for one block, `notStored`, `closed`.
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
    /// Those objects of the list that pass `condition`, live, in the order of the list: an object that the list has twice
    /// is there twice. They follow the list, the objects in it, and what the condition says of their links.
    ///
    /// What is `sorted` by something else falls back on the list's order for ties. In change sets, `deletedIDs` are those of
    /// the list's elements, as they are for the list itself. On the connection's scheduler; O(length of the list) when it is
    /// read first, and upkeep of O(log n) per change.
    /// - Throws: `notStored` for the list of an object that is not stored, `unknownModel`.
    public func `where`(_ condition: Filter<Element>) throws -> Results<Element> { try results().where(condition) }

    /// Those objects of the list that pass a condition given as text; as `where` with a filter.
    /// - Throws: `notStored`, `unknownModel`, `invalidQuery`.
    public func `where`(_ text: String, _ arguments: (any QueryArgument)?...) throws -> Results<Element> {
        try results().refined(by: text, arguments)
    }

    /// The objects of the list in another order, live; as `where` for all else. O(n log n) when it is read first.
    /// - Throws: `notStored` for the list of an object that is not stored, `unknownModel`.
    public func sorted<Value: StorableValue>(
        by keyPath: KeyPath<Element, Value>, ascending: Bool = true
    ) throws -> Results<Element> { try results().sorted(by: keyPath, ascending: ascending) }

    /// The objects of the list in the order of several keys, live; as `where` for all else. O(n log n) when it is read first.
    /// - Throws: `notStored` for the list of an object that is not stored, `unknownModel`.
    public func sorted(by keys: [SortKey<Element>]) throws -> Results<Element> { try results().sorted(by: keys) }

    private func results() throws -> Results<Element> {
        guard let stored else { throw StoreError.notStored(type: owner.map { "\(type(of: $0))" } ?? "List") }
        let table = try stored.connection.core.storage.table(of: Element.self)
        return Results(stored.connection, table, Refinement(list: stored.source))
    }
}

extension List where Element: Equatable {
    /// The first place where the list has `element`. O(n).
    public func index(of element: Element) -> Int? { firstIndex(of: element) }
}

extension List where Element: StoredObject {
    /// The first place where the list has `object`. O(log n) for each list that it is in; O(n) where the connection shows what is
    /// older than what it reads, as in a write block of one that waits for a delivery, and in a list that is not stored.
    /// - Throws: `otherStore` where the list is stored in another store than the object; `storage`, `damaged`.
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

/// What an observer of a list is told.
public enum ListChange<Element: ListElement> {
    /// The list as at the connection's `version`.
    case initial(List<Element>)
    /// The list changed since this observer was last called.
    case update(List<Element>, ChangeSet)
    /// The list cannot be kept any more; no further call comes.
    case error(StoreError)
}
