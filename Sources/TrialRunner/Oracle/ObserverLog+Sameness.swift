// Whether two observers were told exactly the same: the ground on which one replay speaks for both.
import Measure

extension ObserverLog {
    /// Equal for logs that tell the same.
    var contentHash: Int {
        var hasher = Hasher()
        hasher.combine(observer.query)
        hasher.combine(count)
        for (index, record) in records.enumerated() {
            hasher.combine(record.version)
            hasher.combine(record.count)
            hasher.combine(record.flags)
            if let delivered = delivered(index) {
                for list in [delivered.deletions, delivered.insertions, delivered.modifications] {
                    hasher.combine(bytes: UnsafeRawBufferPointer(list))
                }
            }
        }
        return hasher.finalize()
    }

    /// Compares all but the times.
    func tellsTheSame(as other: ObserverLog) -> Bool {
        guard observer.query == other.observer.query, count == other.count else { return false }
        return (0..<count).allSatisfy { index in
            let mine = self[index]
            let theirs = other[index]
            guard mine.version == theirs.version, mine.count == theirs.count, mine.flags == theirs.flags,
                mine.moveCount == theirs.moveCount, let a = delivered(index), let b = other.delivered(index)
            else { return false }
            return a.deletions.elementsEqual(b.deletions) && a.insertions.elementsEqual(b.insertions)
                && a.modifications.elementsEqual(b.modifications)
        }
    }
}
