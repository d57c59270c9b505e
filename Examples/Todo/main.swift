// A to-do application in the terminal. Several processes may open one file, and each shows the changes of the others.
//
//     swift run stillingwell-todo ~/todos                     # typed commands: `help` lists them
//     swift run stillingwell-todo ~/todos --script day.txt    # commands from a file
//     swift run stillingwell-todo ~/todos --record trace.txt  # records commits and observed queries
import Foundation
import StillingWell

func refuse(_ reason: String) -> Never {
    let usage = "usage: stillingwell-todo PATH [--script FILE] [--record FILE]"
    FileHandle.standardError.write(Data("stillingwell-todo: \(reason)\n\(usage)\n".utf8))
    exit(64)
}

/// Removes an option and its value from the arguments, and returns the value.
func take(_ option: String, _ arguments: inout [String]) -> String? {
    guard let place = arguments.firstIndex(of: option), place + 1 < arguments.count else { return nil }
    defer { arguments.removeSubrange(place...place + 1) }
    return arguments[place + 1]
}

var arguments = Array(CommandLine.arguments.dropFirst())
let script = take("--script", &arguments)
let trace = take("--record", &arguments)
guard arguments.count == 1, let path = arguments.first, !path.hasPrefix("-") else { refuse("one path is needed") }
do {
    let store = try Store(.init(path: path, models: [Person.self, Todo.self, TodoList.self]))
    let recorder = try trace.map { try store.record(to: $0) }
    let commands = Commands(try Screen(store)) {
        do { try recorder?.end() } catch { refuse("\(error)") }
        exit(0)
    }
    try readLines(script) { line, done in commands.perform(line, done: done) }
} catch {
    refuse("\(error)")
}
RunLoop.main.run()
