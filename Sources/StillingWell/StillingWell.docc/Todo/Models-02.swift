import Foundation
import StillingWell

/// A person with tasks.
final class Person: StoredObject {
    @Stored(.primaryKey) var name = ""
    @LinkingObjects(\Todo.owner) var todos: Backlinks<Todo>
}

/// A task.
final class Todo: StoredObject {
    @Stored(.primaryKey) var id = UUID()
    @Stored var title = ""
    @Stored var isDone = false
    /// The person who does the task.
    @Linked var owner: Person?
}

/// Tasks in a stored order.
final class TodoList: StoredObject {
    @Stored(.primaryKey) var name = ""
    @Listed var todos: List<Todo>
}
