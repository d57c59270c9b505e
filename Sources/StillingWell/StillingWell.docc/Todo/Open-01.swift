import Foundation
import StillingWell

let path = CommandLine.arguments.last!
let store = try Store(.init(path: path, models: [Person.self, Todo.self, TodoList.self]))
try store.write { connection in
    let list = TodoList()
    list.name = "home"
    let milk = Todo()
    milk.title = "milk"
    list.todos = [milk]
    // Adding the list also adds its elements.
    try connection.add(list)
}
