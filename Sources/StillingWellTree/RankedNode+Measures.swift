// The measures of a node, stored behind its arrays: the words of each entry in a leaf, a summary per slot and column in
// an inner node. They move with the slots. Used in trees with measures only.

extension RankedNode {
    private static let summaryBytes = MemoryLayout<IntegerSummary>.stride

    static func measureBytes(_ measures: MeasureKinds, height: Int) -> Int {
        height == 0 ? measures.wordsPerEntry * 8 : Int(measures.count) * summaryBytes
    }

    private var measureBytes: Int { Self.measureBytes(measures, height: height) }

    // MARK: Moving

    /// Copies measures from another node of the same height and kinds.
    func copyMeasures(of source: RankedNode, _ range: Range<Int>, to index: Int) {
        assert(source.measures == measures && source.height == height)
        let bytes = measureBytes
        (measureMemory + index * bytes).copyMemory(
            from: source.measureMemory + range.lowerBound * bytes, byteCount: range.count * bytes)
    }

    /// Moves the measures of `count` slots within the node. The ranges may overlap.
    func moveMeasures(_ from: Int, _ count: Int, to index: Int) {
        let bytes = measureBytes
        (measureMemory + index * bytes).copyMemory(from: measureMemory + from * bytes, byteCount: count * bytes)
    }

    // MARK: Entries

    /// Returns the words of an entry; leaves only.
    func words(at index: Int) -> UnsafeMutablePointer<UInt64> {
        (measureMemory + index * measureBytes).assumingMemoryBound(to: UInt64.self)
    }

    /// - Parameter values: the words of an entry; nil sets zeros.
    func setMeasures(_ values: UnsafePointer<UInt64>?, at index: Int) {
        let count = measures.wordsPerEntry
        if let values {
            words(at: index).update(from: values, count: count)
        } else {
            words(at: index).update(repeating: 0, count: count)
        }
    }

    // MARK: Summaries

    private func slot<Summary>(_ place: Int, at index: Int, of type: Summary.Type) -> UnsafeMutablePointer<Summary> {
        (measureMemory + index * measureBytes + place * Self.summaryBytes).assumingMemoryBound(to: type)
    }

    /// Recomputes the summaries of a slot from its child; inner nodes only.
    func summarize(_ child: RankedNode, at index: Int) {
        for place in 0..<Int(measures.count) {
            if measures.isDouble(place) {
                slot(place, at: index, of: DoubleSummary.self).initialize(to: child.doubles(place, 0..<child.used))
            } else {
                slot(place, at: index, of: IntegerSummary.self).initialize(to: child.integers(place, 0..<child.used))
            }
        }
    }

    /// Returns the aggregates of a column of integers in some slots and below them.
    func integers(_ place: Int, _ slots: Range<Int>) -> IntegerSummary {
        var summary = IntegerSummary()
        if !isLeaf {
            for index in slots { summary.add(slot(place, at: index, of: IntegerSummary.self).pointee) }
            return summary
        }
        let stride = measures.wordsPerEntry
        var word = words(at: slots.lowerBound) + measures.word(of: place)
        let isOptional = measures.isOptional(place)
        for _ in slots {
            if !isOptional || word[1] != 0 { summary.add(Int(bitPattern: UInt(word.pointee))) }
            word += stride
        }
        return summary
    }

    /// Returns the aggregates of a column of doubles in some slots and below them.
    func doubles(_ place: Int, _ slots: Range<Int>) -> DoubleSummary {
        var summary = DoubleSummary()
        if !isLeaf {
            for index in slots { summary.add(slot(place, at: index, of: DoubleSummary.self).pointee) }
            return summary
        }
        let stride = measures.wordsPerEntry
        var word = words(at: slots.lowerBound) + measures.word(of: place)
        for _ in slots {
            summary.add(Double(bitPattern: word.pointee))
            word += stride
        }
        return summary
    }

    #if DEBUG
        func hasSummary(of child: RankedNode, at index: Int) -> Bool {
            (0..<Int(measures.count)).allSatisfy { place in
                measures.isDouble(place)
                    ? slot(place, at: index, of: DoubleSummary.self).pointee.isSame(
                        as: child.doubles(place, 0..<child.used))
                    : slot(place, at: index, of: IntegerSummary.self).pointee == child.integers(place, 0..<child.used)
            }
        }
    #endif
}
