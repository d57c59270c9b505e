// The error message for an index that is out of range in a collection of the store.
import StillingWellBasis

/// Stops the program if `index` is out of range.
/// - Parameter what: plural name of the elements, evaluated only on failure.
@inline(__always)
func checkIndex(_ index: Int, of count: Int, _ what: @autoclosure () -> String) {
    stopUnless(index >= 0 && index < count, outOfRange(index, of: count, what()))
}

private func outOfRange(_ index: Int, of count: Int, _ what: String) -> String {
    let there = count == 0 ? "none" : count == 1 ? "1" : "\(count)"
    let range = count == 0 ? "" : count == 1 ? " (0)" : " (0 to \(count - 1))"
    return """
        index \(index) is outside of the \(what), of which there \(count == 1 ? "is" : "are") \(there) now\(range): an index \
        holds until the next delivery or write
        """
}
