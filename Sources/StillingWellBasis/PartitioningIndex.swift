// Binary search. The one algorithm that a package was once wanted for.

extension RandomAccessCollection {
    /// The first place whose element belongs to the second part, where all that do stand behind all that do not; `endIndex`
    /// where none does. O(log n) calls of `belongs`.
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
