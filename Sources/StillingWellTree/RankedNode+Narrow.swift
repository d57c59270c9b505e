// Narrow leaves: access to their words, formats that hold given entries, and comparison of leaves.

extension RankedNode {
    /// Returns the lower halves of a narrow leaf's words.
    @inline(__always)
    func lowerHalves(_ word: LeafFormat.Word) -> UnsafeMutablePointer<UInt32> {
        (memory + word.rawValue * format.bytes(capacity)).assumingMemoryBound(to: UInt32.self)
    }

    @inline(__always)
    func narrowWord(_ word: LeafFormat.Word, _ index: Int) -> UInt64 {
        format.upper(word) | UInt64(lowerHalves(word)[index])
    }

    @inline(__always)
    func setNarrowEntry(_ prefix: UInt64, _ id: UInt64, _ stamp: UInt64, at index: Int) {
        assert(format.holding(prefix: prefix, id: id, stamp: stamp) == format)
        lowerHalves(.prefix)[index] = UInt32(truncatingIfNeeded: prefix)
        lowerHalves(.id)[index] = UInt32(truncatingIfNeeded: id)
        lowerHalves(.stamp)[index] = UInt32(truncatingIfNeeded: stamp)
    }

    func narrowLowerBound(_ key: BareKey) -> Int {
        let upper = format.upper(.prefix)
        guard key.prefix >> 32 == upper >> 32 else { return key.prefix < upper ? 0 : used }
        let prefixes = lowerHalves(.prefix)
        let word = UInt32(truncatingIfNeeded: key.prefix)
        if tails == nil, key.tail == nil, key.id >> 32 == format.upper(.id) >> 32 {
            return narrowLowerBound(UInt64(word) << 32 | key.id & 0xffff_ffff)
        }
        let low = Self.lowerBound(word, in: prefixes, used)
        if low == used || prefixes[low] != word { return low }
        return lowerBoundAmongTies(key, from: low)
    }

    /// Returns the lower bound of the combined lower halves of prefix and id, in a leaf without tails.
    @inline(__always)
    private func narrowLowerBound(_ both: UInt64) -> Int {
        let (prefixes, ids) = (lowerHalves(.prefix), lowerHalves(.id))
        var low = 0
        var length = used
        while length > 0 {
            let half = length >> 1
            let isBelow = UInt64(prefixes[low + half]) << 32 | UInt64(ids[low + half]) < both
            low = isBelow ? low + half + 1 : low
            length = isBelow ? length - half - 1 : half
        }
        return low
    }

    /// Returns a format that holds the leaf's entries and one more.
    @inline(__always)
    func format(holding prefix: UInt64, _ id: UInt64, _ stamp: UInt64) -> LeafFormat {
        used == 0
            ? LeafFormat(prefix: prefix, id: id, stamp: stamp)
            : format.holding(prefix: prefix, id: id, stamp: stamp)
    }

    /// Returns a format that holds the leaf's entries and those of another leaf in a range.
    func format(holding source: RankedNode, _ range: Range<Int>) -> LeafFormat {
        if format == source.format { return format }
        guard used == 0 else { return .wide }
        if source.isNarrow { return source.format }
        let first = source.key(at: range.lowerBound)
        var narrow = LeafFormat(prefix: first.prefix, id: first.id, stamp: source.stamp(at: range.lowerBound))
        for index in range where narrow.isNarrow {
            let key = source.key(at: index)
            narrow = narrow.holding(prefix: key.prefix, id: key.id, stamp: source.stamp(at: index))
        }
        return narrow
    }

    /// Returns a format that holds the leaf's entries and `numbers`, which ascend.
    func format(holding numbers: UnsafeBufferPointer<RankedNumber>, stamp: UInt64) -> LeafFormat {
        guard let first = numbers.first, let last = numbers.last else { return format }
        let format = format(holding: first.prefix, first.id, stamp)
        guard format.isNarrow else { return format }
        var difference = first.prefix ^ last.prefix
        for index in 0..<numbers.count { difference |= numbers[index].id ^ first.id }
        return difference >> 32 == 0 ? format : .wide
    }

    /// Returns how many consecutive entries from the given places on are equal in two leaves, including stamps. May
    /// return less if keys have tails; the caller compares the next entry itself.
    func sameEntries(from start: Int, as other: RankedNode, from otherStart: Int) -> Int {
        let most = min(used - start, other.used - otherStart)
        let count: Int
        if format != other.format {
            count = sameWords(from: start, as: other, from: otherStart, most)
        } else if isNarrow {
            count = Self.same(
                most, lowerHalves(.prefix) + start, other.lowerHalves(.prefix) + otherStart, lowerHalves(.id) + start,
                other.lowerHalves(.id) + otherStart, lowerHalves(.stamp) + start,
                other.lowerHalves(.stamp) + otherStart)
        } else {
            count = Self.same(
                most, prefixes + start, other.prefixes + otherStart, ids + start, other.ids + otherStart,
                stamps + start, other.stamps + otherStart)
        }
        if tails == nil, other.tails == nil { return count }
        guard let tails, let otherTails = other.tails else { return 0 }
        return (0..<count).first { tails[start + $0]?.toOpaque() != otherTails[otherStart + $0]?.toOpaque() } ?? count
    }

    /// Returns how many leading elements, up to `most`, are equal in three pairs of arrays.
    @inline(__always)
    private static func same<Word: FixedWidthInteger>(
        _ most: Int, _ prefixes: UnsafePointer<Word>, _ otherPrefixes: UnsafePointer<Word>, _ ids: UnsafePointer<Word>,
        _ otherIDs: UnsafePointer<Word>, _ stamps: UnsafePointer<Word>, _ otherStamps: UnsafePointer<Word>
    ) -> Int {
        var count = 0
        while count + 4 <= most {
            var difference: Word = 0
            for place in count..<count + 4 {
                difference |= prefixes[place] ^ otherPrefixes[place]
                difference |= ids[place] ^ otherIDs[place]
                difference |= stamps[place] ^ otherStamps[place]
            }
            if difference != 0 { break }
            count += 4
        }
        while count < most, prefixes[count] == otherPrefixes[count], ids[count] == otherIDs[count],
            stamps[count] == otherStamps[count]
        {
            count += 1
        }
        return count
    }

    private func sameWords(from start: Int, as other: RankedNode, from otherStart: Int, _ most: Int) -> Int {
        (0..<most).first { place in
            let (key, otherKey) = (key(at: start + place), other.key(at: otherStart + place))
            return key.prefix != otherKey.prefix || key.id != otherKey.id
                || stamp(at: start + place) != other.stamp(at: otherStart + place)
        } ?? most
    }
}
