import Foundation
import StillingWell

/// Something to be done.
final class Todo: StoredObject {
    @Stored(.primaryKey) var id = UUID()
    @Stored var title = ""
    @Stored var isDone = false
}
