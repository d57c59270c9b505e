// Binary search.

extension RandomAccessCollection {
    /// Returns the index of the first element for which `belongs` is true, or `endIndex`. All elements after it must
    /// satisfy `belongs` too. O(log n) calls of `belongs`.
    @inlinable
    public func partitioningIndex(where belongs: (Element) throws -> Bool) rethrows -> Index {
        var (low, count) = (startIndex, count)
        while count > 0 {
            let half = count / 2
            let middle = index(low, offsetBy: half)
            if try belongs(self[middle]) {
                count = half
            } else {
                low = index(after: middle)
                count -= half + 1
            }
        }
        return low
    }
}
