// The longest increasing subsequence, by patience sorting (Fredman, On computing the length of longest increasing
// subsequences, 1975).

extension Array {
    /// Returns the number of leading elements that satisfy `isBefore`. The elements must be partitioned by it. O(log
    /// n).
    @inlinable
    package func prefixCount(_ isBefore: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

enum LongestIncreasing {
    /// Returns the positions in `values`, ascending, of a longest strictly increasing subsequence. O(k log k).
    static func positions(in values: [Int]) -> [Int] {
        // Fast path: all values ascend.
        if zip(values, values.dropFirst()).allSatisfy({ $0 < $1 }) { return Array(values.indices) }
        // tops[l]: the position of the smallest value that ends an increasing subsequence of length l + 1.
        var tops: [Int] = []
        var previous = [Int](repeating: -1, count: values.count)
        for (position, value) in values.enumerated() {
            let length = tops.prefixCount { values[$0] < value }
            if length > 0 { previous[position] = tops[length - 1] }
            if length == tops.count { tops.append(position) } else { tops[length] = position }
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
