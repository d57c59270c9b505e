import Foundation
import StillingWell

/// A task.
final class Todo: StoredObject {
    @Stored(.primaryKey) var id = UUID()
    @Stored var title = ""
    @Stored var isDone = false
}
