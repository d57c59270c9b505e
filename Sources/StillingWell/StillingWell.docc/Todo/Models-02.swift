import Foundation
import StillingWell

/// Somebody who has things to do.
final class Person: StoredObject {
    @Stored(.primaryKey) var name = ""
    @LinkingObjects(\Todo.owner) var todos: Backlinks<Todo>
}

/// Something to be done.
final class Todo: StoredObject {
    @Stored(.primaryKey) var id = UUID()
    @Stored var title = ""
    @Stored var isDone = false
    /// Whose it is.
    @Linked var owner: Person?
}

/// Things to be done, in an order of their own.
final class TodoList: StoredObject {
    @Stored(.primaryKey) var name = ""
    @Listed var todos: List<Todo>
}
