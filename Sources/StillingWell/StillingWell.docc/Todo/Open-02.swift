import Foundation
import StillingWell

let path = CommandLine.arguments.last!
let store = try Store(.init(path: path, models: [Person.self, Todo.self, TodoList.self]))
let connection = try store.connect(on: .main)
let open = try connection.objects(Todo.self).where(\.isDone == false).sorted(by: \.title)
let token = try open.observe { change in
    switch change {
    case .initial(let todos): print("\(todos.count) to do")
    case .update(let todos, let changes): print("\(changes.insertions.count) new of \(todos.count)")
    case .error(let error): print(error)
    }
}
RunLoop.main.run()
