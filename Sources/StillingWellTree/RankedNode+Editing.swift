// Changes to one node by the edit that made it, without regard to balance or order.

extension RankedNode {
    /// Returns a node of `edit` with the same content, owned by the caller.
    func copy(edit: UInt64) -> RankedNode { copy(edit: edit, format) }

    /// Returns a copy in another format, which must hold all entries.
    func copy(edit: UInt64, _ format: LeafFormat) -> RankedNode {
        let copy = RankedNode(edit: edit, height: height, capacity: capacity, measures: measures, format: format)
        copy.append(from: self, 0..<used)
        return copy
    }

    /// Copies slots of `source`, a node of the same height, behind the used ones. The format must hold them.
    func append(from source: RankedNode, _ range: Range<Int>) {
        if measures.count > 0 { copyMeasures(of: source, range, to: used) }
        appendUnmeasured(from: source, range)
    }

    /// Same as `append(from:_:)`, without measures.
    @inline(__always)
    func appendUnmeasured(from source: RankedNode, _ range: Range<Int>) {
        let first = used
        let count = range.count
        assert(first + count <= capacity && source.height == height)
        if isLeaf {
            appendEntries(from: source, range)
            total += count
        } else {
            (prefixes + first).update(from: source.prefixes + range.lowerBound, count: count)
            (ids + first).update(from: source.ids + range.lowerBound, count: count)
            (counts + first).update(from: source.counts + range.lowerBound, count: count)
            (children + first).update(from: source.children + range.lowerBound, count: count)
            let added = children + first
            for index in 0..<count { added[index].prefetchForRetain() }
            for index in 0..<count { added[index].retain() }
            if count == source.used {
                total += source.total
            } else {
                for index in range { total += source.counts[index] }
            }
        }
        if source.tails != nil || tails != nil {
            for index in 0..<count { setFreshTail(source.tails?[range.lowerBound + index], at: first + index) }
        }
        used = first + count
    }

    /// Copies entries without tails and measures; leaves only.
    @inline(__always)
    private func appendEntries(from source: RankedNode, _ range: Range<Int>) {
        let first = used
        guard format == source.format else {
            for (offset, index) in range.enumerated() {
                let key = source.key(at: index)
                setEntry(key.prefix, key.id, source.stamp(at: index), at: first + offset)
            }
            return
        }
        let (array, sourceArray) = (format.bytes(capacity), format.bytes(source.capacity))
        let (place, sourcePlace) = (memory + format.bytes(first), source.memory + format.bytes(range.lowerBound))
        for word in 0..<3 {
            (place + word * array).copyMemory(
                from: sourcePlace + word * sourceArray, byteCount: format.bytes(range.count))
        }
    }

    /// Appends an entry; leaves only. The format must hold it. The caller sets its measures.
    @inline(__always)
    func append(_ key: BareKey, stamp: UInt64) {
        let index = used
        assert(isLeaf && index < capacity)
        setEntry(key.prefix, key.id, stamp, at: index)
        if key.tail != nil || tails != nil { setFreshTail(key.tail, at: index) }
        used = index + 1
        total += 1
    }

    /// Appends entries without tails, all with one stamp; leaves without measures only. The format must hold them.
    func append(_ numbers: UnsafeBufferPointer<RankedNumber>, stamp: UInt64) {
        let first = used
        assert(isLeaf && first + numbers.count <= capacity && tails == nil && measures.count == 0)
        if isNarrow {
            let stamp = UInt32(truncatingIfNeeded: stamp)
            let (prefixes, ids, stamps) = (lowerHalves(.prefix), lowerHalves(.id), lowerHalves(.stamp))
            for index in 0..<numbers.count {
                prefixes[first + index] = UInt32(truncatingIfNeeded: numbers[index].prefix)
                ids[first + index] = UInt32(truncatingIfNeeded: numbers[index].id)
                stamps[first + index] = stamp
            }
        } else {
            let (prefixes, ids, stamps) = (prefixes + first, ids + first, stamps + first)
            for index in 0..<numbers.count {
                prefixes[index] = numbers[index].prefix
                ids[index] = numbers[index].id
                stamps[index] = stamp
            }
        }
        used = first + numbers.count
        total += numbers.count
    }

    /// Inserts an entry at `index`; leaves only. The format must hold it. The caller sets its measures.
    func insert(_ key: BareKey, stamp: UInt64, at index: Int) {
        openSlot(at: index)
        setEntry(key.prefix, key.id, stamp, at: index)
        if key.tail != nil { setFreshTail(key.tail, at: index) }
        total += 1
    }

    /// Inserts `child` at `index` and takes over the caller's reference; inner nodes only. `total` grows by its
    /// entries.
    func insert(child: RankedNode, at index: Int) {
        openSlot(at: index)
        children[index] = child
        counts[index] = 0
        refreshSlot(at: index)
        total += child.total
    }

    /// Replaces the child at `index` by `child`. If that is another node, takes over the caller's reference and
    /// releases the old child's. The slot's key, count and measures are stale until `refreshSlot`.
    func replaceChild(at index: Int, by child: RankedNode) {
        let old = children[index]
        guard old != child else { return }
        children[index] = child
        old.release()
    }

    /// Sets the key, count and measures of a slot to those of its child, which is not empty; inner nodes only.
    func refreshSlot(at index: Int) {
        let child = children[index]
        if measures.count > 0 { summarize(child, at: index) }
        let key = child.key(at: 0)
        prefixes[index] = key.prefix
        ids[index] = key.id
        counts[index] = child.total
        if key.tail != nil || tails != nil {
            let old = tails?[index]
            setFreshTail(key.tail, at: index)
            old?.release()
        }
    }

    /// Removes slots and releases what they own. `total` shrinks by their entries.
    func remove(_ range: Range<Int>) {
        let behind = used - range.upperBound
        if isLeaf {
            total -= range.count
        } else {
            for index in range {
                total -= counts[index]
                children[index].release()
            }
        }
        moveWords(range.upperBound, behind, to: range.lowerBound)
        if let tails {
            for index in range { tails[index]?.release() }
            (tails + range.lowerBound).update(from: tails + range.upperBound, count: behind)
            (tails + range.lowerBound + behind).update(repeating: nil, count: range.count)
        }
        if measures.count > 0 { moveMeasures(range.upperBound, behind, to: range.lowerBound) }
        used -= range.count
    }

    /// Moves the slots from `index` on to a new node of the same edit, owned by the caller.
    func split(at index: Int) -> RankedNode {
        let right = RankedNode(edit: edit, height: height, capacity: capacity, measures: measures, format: format)
        right.append(from: self, index..<used)
        remove(index..<used)
        return right
    }

    private func openSlot(at index: Int) {
        let behind = used - index
        assert(used < capacity)
        moveWords(index, behind, to: index + 1)
        if measures.count > 0 { moveMeasures(index, behind, to: index + 1) }
        if let tails {
            (tails + index + 1).update(from: tails + index, count: behind)
            tails[index] = nil
        }
        used += 1
    }

    /// Moves slots within the node, without tails and measures.
    @inline(__always)
    private func moveWords(_ from: Int, _ count: Int, to index: Int) {
        let array = format.bytes(capacity)
        let (place, source, bytes) = (memory + format.bytes(index), memory + format.bytes(from), format.bytes(count))
        for word in 0..<(isLeaf ? 3 : 4) {
            (place + word * array).copyMemory(from: source + word * array, byteCount: bytes)
        }
    }

    /// Stores and retains a tail in a slot. The caller releases the slot's former tail.
    private func setFreshTail(_ tail: Unmanaged<SortKeyTail>?, at index: Int) {
        if tails == nil {
            guard tail != nil else { return }
            let fresh = UnsafeMutablePointer<Unmanaged<SortKeyTail>?>.allocate(capacity: capacity)
            fresh.initialize(repeating: nil, count: capacity)
            tails = fresh
        }
        tails.unsafelyUnwrapped[index] = tail?.retain()
    }
}
