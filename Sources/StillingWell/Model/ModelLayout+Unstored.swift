// The warning about properties without a wrapper, logged when a store is opened.
import Logging

extension ModelLayout {
    /// Logs the names of the class's properties without a wrapper. Once per class.
    func warnOfUnstored() {
        guard !unstored.isEmpty, !isUnstoredSaid.exchange(true, ordering: .relaxed) else { return }
        let names = unstored.map { "\(typeName).\($0)" }.joined(separator: ", ")
        Logger(label: "stillingwell").warning(
            """
            \(names) will not be stored: mark what is to be with @Stored, @Linked or @Listed, and what is not with @Transient
            """)
    }
}
