// Trees built in one pass: from sorted rows, or from a tree and so many changes that streaming all leaves is cheaper
// than one descent per change. Most leaves without a change are shared with the old tree, so that a difference still
// skips them.

extension RankedTree {
    /// Makes a tree of `entries`, which ascend strictly by key. O(n).
    @inlinable
    package init(sorted entries: some Sequence<RankedEntry>, shape: Shape = Shape()) {
        var stream = LeafStream(shape: shape)
        for entry in entries { stream.append(entry) }
        self.init(stream)
    }

    /// Makes a tree of rows whose keys have at most eight bytes and ascend strictly. O(n).
    /// - Parameter stamp: stamp of all rows (`RankedEntry.stamp`).
    package init(sorted numbers: UnsafeBufferPointer<RankedNumber>, stamp: UInt64, shape: Shape = Shape()) {
        precondition(shape.measures.isEmpty, "rows that are numbers bring no measures")
        var stream = LeafStream(shape: shape)
        stream.append(numbers, stamp: stamp)
        self.init(stream)
    }

    @usableFromInline
    init(_ stream: consuming LeafStream) {
        let shape = stream.shape
        root = Root(stream.finish(), shape: shape)
    }

    /// Removes and inserts rows by the cheaper of two algorithms.
    ///
    /// Removals come before insertions. Removing a missing key does nothing. Inserting an existing key sets its stamp
    /// (the version of its last change) and measures, so a row that keeps its key belongs to `insertions` only. The
    /// arrays need not be sorted. No key may occur twice in one of them.
    /// - Parameter values: words of the insertions' measures (stored column values, `Measures`), one entry after
    ///   another. If nil, and there are insertions, the tree stops maintaining its measures.
    package mutating func apply(removals: [RankedKey], insertions: [RankedEntry], values: [UInt64]? = nil) {
        if !measures.isEmpty { return applyMeasured(removals, insertions, values) }
        apply(removals, insertions, values: nil)
    }

    private mutating func applyMeasured(
        _ removals: [RankedKey], _ insertions: [RankedEntry], _ values: [UInt64]?
    ) {
        guard let values else {
            apply(removals, insertions, values: nil)
            if !insertions.isEmpty { forgetMeasures() }
            return
        }
        precondition(values.count == insertions.count * measures.wordsPerEntry, "not as many values as insertions have")
        values.withUnsafeBufferPointer { apply(removals, insertions, values: $0.baseAddress) }
    }

    private mutating func apply(_ removals: [RankedKey], _ insertions: [RankedEntry], values: UnsafePointer<UInt64>?) {
        let rows = max(removals.count, insertions.count)
        guard rows > 0 else { return }
        let words = values == nil ? 0 : measures.wordsPerEntry
        // Streaming all leaves is faster from one changed row in 100 on (trees of 10,000 and 100,000 rows), or one in
        // 64 (1,000,000 rows).
        if rows * 64 < count {
            edit { edit in
                for key in removals { edit.remove(key) }
                guard let values else {
                    for entry in insertions { edit.insert(entry) }
                    return
                }
                for (number, entry) in insertions.enumerated() { edit.insert(entry, values: values + number * words) }
            }
        } else {
            mergeRebuild(removing: removals, inserting: insertions, values: values)
        }
    }

    /// Same changes as by `apply`, by sorting them and streaming through the leaves. O(n + k log k).
    mutating func mergeRebuild(
        removing removals: [RankedKey], inserting insertions: [RankedEntry], values: UnsafePointer<UInt64>? = nil
    ) {
        withExtendedLifetime((root, removals, insertions)) {
            var merge = LeafMerge(removals: removals, insertions: insertions, values: values, shape: root.shape)
            merge.stream(below: root.node)
            self = RankedTree(Root(merge.finish(), shape: root.shape))
        }
    }
}

/// Walks the leaves of a tree together with two sorted arrays of changes. It does not retain the key bytes beyond the
/// first eight (`SortKeyTail`), so its caller keeps the tree and the changes alive.
private struct LeafMerge {
    private struct Insertion {
        let key: BareKey
        let number: Int
    }

    private let entries: [RankedEntry]
    private let values: UnsafePointer<UInt64>?
    private let wordsPerEntry: Int
    private let removals: [BareKey]
    private let insertions: [Insertion]
    private var removed = 0
    private var inserted = 0
    private var output: LeafStream

    init(
        removals: [RankedKey], insertions: [RankedEntry], values: UnsafePointer<UInt64>?, shape: RankedTree.Shape
    ) {
        entries = insertions
        self.values = values
        wordsPerEntry = shape.measures.wordsPerEntry
        // Sorted without ownership, because moving owned keys would count references.
        self.removals = removals.map { BareKey($0) }.sorted()
        self.insertions = insertions.enumerated().map { Insertion(key: BareKey($1.key), number: $0) }
            .sorted { $0.key < $1.key }
        output = LeafStream(shape: shape)
    }

    mutating func stream(below node: RankedNode) {
        if node.isLeaf { return merge(node) }
        for index in 0..<node.used { stream(below: node.children[index]) }
    }

    mutating func finish() -> RankedNode {
        while inserted < insertions.count { appendInsertion() }
        return output.finish()
    }

    /// Next key at which a row is removed or inserted.
    private var nextChange: BareKey? {
        let removal = removed < removals.count ? removals[removed] : nil
        let insertion = inserted < insertions.count ? insertions[inserted].key : nil
        guard let removal, let insertion else { return removal ?? insertion }
        return min(removal, insertion)
    }

    private mutating func appendInsertion() {
        let (key, number) = (insertions[inserted].key, insertions[inserted].number)
        output.append(key, stamp: entries[number].stamp, values: values.map { $0 + number * wordsPerEntry })
        inserted += 1
    }

    private mutating func merge(_ leaf: RankedNode) {
        let used = leaf.used
        var index = 0
        while index < used {
            guard let change = nextChange, change <= leaf.key(at: used - 1) else {
                return output.append(leaf, from: index)
            }
            let place = leaf.lowerBound(change)
            if place > index { output.append(from: leaf, index..<place) }
            index = max(index, place)
            let isPresent = leaf.key(at: index) == change
            if removed < removals.count && removals[removed] == change { removed += 1 }
            if inserted < insertions.count && insertions[inserted].key == change { appendInsertion() }
            if isPresent { index += 1 }
        }
    }
}

/// Collects ascending entries into leaves and builds the levels above them.
@usableFromInline
struct LeafStream {
    private let edit = RankedEdit.nextID()
    fileprivate let shape: RankedTree.Shape
    private let fill: Int
    /// Finished leaves, each owned.
    private var leaves: [RankedNode] = []
    private var current: RankedNode

    @usableFromInline
    init(shape: RankedTree.Shape) {
        self.shape = shape
        fill = shape.fill(height: 0)
        current = shape.node(edit: edit)
    }

    @usableFromInline
    mutating func append(_ entry: RankedEntry) {
        withExtendedLifetime(entry) { append(BareKey(entry.key), stamp: entry.stamp) }
    }

    fileprivate mutating func append(_ key: BareKey, stamp: UInt64, values: UnsafePointer<UInt64>? = nil) {
        assert(current.used == 0 || current.key(at: current.used - 1) < key, "rows do not ascend strictly by key")
        if current.used >= fill { close() }
        take(current.format(holding: key.prefix, key.id, stamp))
        current.append(key, stamp: stamp)
        if current.measures.count > 0 { current.setMeasures(values, at: current.used - 1) }
    }

    fileprivate mutating func append(_ numbers: UnsafeBufferPointer<RankedNumber>, stamp: UInt64) {
        var rest = numbers[...]
        while !rest.isEmpty {
            if current.used >= fill { close() }
            let taken = rest.prefix(fill - current.used)
            let numbers = UnsafeBufferPointer(rebasing: taken)
            take(current.format(holding: numbers, stamp: stamp))
            current.append(numbers, stamp: stamp)
            rest = rest.dropFirst(taken.count)
        }
    }

    mutating func append(from leaf: RankedNode, _ range: Range<Int>) {
        var rest = range
        while !rest.isEmpty {
            if current.used >= fill { close() }
            let taken = rest.prefix(fill - current.used)
            take(current.format(holding: leaf, taken))
            current.append(from: leaf, taken)
            rest = taken.upperBound..<rest.upperBound
        }
    }

    /// Appends the rest of a leaf. A whole leaf is shared, unless it or the leaf before it would be undersized.
    mutating func append(_ leaf: RankedNode, from index: Int) {
        if index == 0 && leaf.used >= shape.minimum(height: 0)
            && (current.used == 0 || current.used >= shape.minimum(height: 0))
        {
            if current.used > 0 { close() }
            leaf.retain()
            leaves.append(leaf)
        } else {
            append(from: leaf, index..<leaf.used)
        }
    }

    private mutating func close() {
        leaves.append(current)
        // The next entries most likely have the same format.
        current = shape.node(edit: edit, format: current.format)
    }

    /// Converts the current leaf to this format if needed.
    @inline(__always)
    private mutating func take(_ format: LeafFormat) {
        if current.format != format { change(to: format) }
    }

    @inline(never)
    private mutating func change(to format: LeafFormat) {
        let next = current.copy(edit: edit, format)
        current.release()
        current = next
    }

    /// Returns the root, owned by the caller. The stream must not be used afterwards.
    mutating func finish() -> RankedNode {
        guard let last = leaves.last else { return current }
        if current.used == 0 {
            current.release()
        } else if current.used >= shape.minimum(height: 0) {
            leaves.append(current)
        } else {
            leaves.removeLast()
            evenOut(last, current)
        }
        return root()
    }

    /// Adds the content of two neighbouring leaves as one leaf, or as two whose sizes differ by at most one.
    private mutating func evenOut(_ left: RankedNode, _ right: RankedNode) {
        let sum = left.used + right.used
        let format = left.format.joined(with: right.format)
        let first = shape.node(edit: edit, format: format)
        let middle = sum <= shape.leafCapacity ? left.used : sum / 2
        first.append(from: left, 0..<middle)
        leaves.append(first)
        if sum <= shape.leafCapacity {
            first.append(from: right, 0..<right.used)
        } else {
            let second = shape.node(edit: edit, format: format)
            second.append(from: left, middle..<left.used)
            second.append(from: right, 0..<right.used)
            leaves.append(second)
        }
        left.release()
        right.release()
    }

    private mutating func root() -> RankedNode {
        var level = leaves
        leaves = []
        while level.count > 1 {
            let height = level[0].height + 1
            let fill = shape.fill(height: height)
            let groups = (level.count + fill - 1) / fill
            level = (0..<groups).map { group in
                let node = shape.node(edit: edit, height: height)
                // Sizes of groups differ by at most one, so that the last one is as full as the others.
                for index in level.count * group / groups..<level.count * (group + 1) / groups {
                    node.insert(child: level[index], at: node.used)
                }
                return node
            }
        }
        return level[0]
    }
}
