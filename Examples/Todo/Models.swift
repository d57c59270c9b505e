// Models of the application. The classes are `Observable`, so that a binding can follow them (Binding.swift).
import Foundation
import Observation
import StillingWell

/// A person with to-dos.
final class Person: StoredObject, Observable {
    @Stored(.primaryKey) var name = ""
    @LinkingObjects(\Todo.owner) var todos: Backlinks<Todo>
}

/// A to-do.
final class Todo: StoredObject, Observable {
    @Stored(.primaryKey) var id = UUID()
    @Stored var title = ""
    @Stored var isDone = false
    /// The person who has to do it.
    @Linked var owner: Person?
}

/// To-dos in a manual order.
final class TodoList: StoredObject, Observable {
    @Stored(.primaryKey) var name = ""
    @Listed var todos: List<Todo>
}

extension Todo {
    /// The text of a row on the screen.
    var row: String { "[\(isDone ? "x" : " ")] \(title)" + (owner.map { " (\($0.name))" } ?? "") }
}
