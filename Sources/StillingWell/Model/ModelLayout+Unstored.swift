// What is said of properties that nobody has marked, when a store is opened.
import Logging

extension ModelLayout {
    /// Says once of the class which of its properties the store knows nothing of.
    func warnOfUnstored() {
        guard !unstored.isEmpty, !isUnstoredSaid.exchange(true, ordering: .relaxed) else { return }
        let names = unstored.map { "\(typeName).\($0)" }.joined(separator: ", ")
        Logger(label: "stillingwell").warning(
            """
            \(names) will not be stored: mark what is to be with @Stored, @Linked or @Listed, and what is not with @Transient
            """)
    }
}
