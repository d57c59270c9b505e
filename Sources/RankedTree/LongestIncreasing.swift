// The longest increasing subsequence, by patience sorting (Fredman, On computing the length of longest increasing
// subsequences, 1975). Rows on it keep their place; the others have to move.

enum LongestIncreasing {
    /// Positions in `values`, ascending, of a longest strictly increasing subsequence. O(k log k).
    static func positions(in values: [Int]) -> [Int] {
        // Nearly always one row, or rows that keep their order.
        if zip(values, values.dropFirst()).allSatisfy({ $0 < $1 }) { return Array(values.indices) }
        // tops[l]: the position of the smallest value that ends an increasing subsequence of length l + 1.
        var tops: [Int] = []
        var previous = [Int](repeating: -1, count: values.count)
        for (position, value) in values.enumerated() {
            var low = 0
            var high = tops.count
            while low < high {
                let middle = (low + high) / 2
                if values[tops[middle]] < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[position] = tops[low - 1] }
            if low == tops.count { tops.append(position) } else { tops[low] = position }
        }
        var result: [Int] = []
        result.reserveCapacity(tops.count)
        var position = tops.last ?? -1
        while position >= 0 {
            result.append(position)
            position = previous[position]
        }
        return result.reversed()
    }
}
