// What the application keeps. The classes are `Observable`, so that whatever is shown of them can follow them (Binding.swift).
import Foundation
import Observation
import StillingWell

/// Somebody who has things to do.
final class Person: StoredObject, Observable {
    @Stored(.primaryKey) var name = ""
    @LinkingObjects(\Todo.owner) var todos: Backlinks<Todo>
}

/// Something to be done.
final class Todo: StoredObject, Observable {
    @Stored(.primaryKey) var id = UUID()
    @Stored var title = ""
    @Stored var isDone = false
    /// Whose it is.
    @Linked var owner: Person?
}

/// Things to be done, in an order of their own.
final class TodoList: StoredObject, Observable {
    @Stored(.primaryKey) var name = ""
    @Listed var todos: List<Todo>
}

extension Todo {
    /// A row on the screen.
    var row: String { "[\(isDone ? "x" : " ")] \(title)" + (owner.map { " (\($0.name))" } ?? "") }
}
