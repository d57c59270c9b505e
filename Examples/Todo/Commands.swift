// The commands that can be typed.
import Foundation
import StillingWell

@MainActor
final class Commands {
    static let help = """
        list NAME        show what is open in a list, which is made if there is none
        all              show everything, by title
        find TEXT        show what has this in its title
        add TITLE        something to do, at the end of the list shown last; with @NAME it is somebody's
        done N, open N   say that row N is done, or not
        rename N TITLE   call it something else
        give N NAME      make it somebody's
        move N M         put row N where row M is
        remove N         take it away for good
        clear            take away all that is done
        watch N          show a line on row N whenever something in it changes
        until N          wait until N rows are shown, whoever makes them so
        sleep SECONDS    wait
        quit
        """

    private let screen: Screen
    private let leave: () -> Never
    private var list = "inbox"

    private var connection: Connection { screen.connection }

    /// - Parameter leave: ends the program.
    init(_ screen: Screen, leave: @escaping () -> Never) { (self.screen, self.leave) = (screen, leave) }

    /// Executes one line, and calls `done` when the next line may be read.
    /// - Parameter line: the line, or nil at the end of the input.
    func perform(_ line: String?, done: @escaping @Sendable () -> Void) {
        guard let line else { leave() }
        let words = line.split(separator: " ").map(String.init)
        guard let verb = words.first, !verb.hasPrefix("#") else { return done() }
        do {
            if try !performView(verb, Array(words.dropFirst()), done) {
                try performChange(verb, Array(words.dropFirst()))
                // Shows the changes before the next line is read.
                try connection.refresh()
                done()
            }
        } catch {
            say("error: \(error)")
            done()
        }
    }

    /// Executes a line that selects a view, waits, shows the help or quits. Returns false for other lines.
    private func performView(_ verb: String, _ rest: [String], _ done: @escaping @Sendable () -> Void) throws -> Bool {
        switch (verb, rest.count) {
        case ("list", 1):
            list = rest[0]
            let todos = try namedList().todos
            try screen.show(list, try todos.where(\.isDone == false), done: done)
        case ("all", 0): try screen.show("all", try connection.objects(Todo.self).sorted(by: \.title), done: done)
        case ("find", 1...):
            let text = rest.joined(separator: " ")
            let found = try connection.objects(Todo.self).where((\Todo.title).contains(text, caseInsensitive: true))
            try screen.show("find \(text)", found.sorted(by: \.title), done: done)
        case ("watch", 1):
            screen.watch(try screen.todo(rest[0]))
            done()
        case ("until", 1):
            guard let count = Int(rest[0]) else { throw Refusal("'\(rest[0])' is no number of rows") }
            screen.wait(for: count, done: done)
        case ("sleep", 1):
            guard let seconds = Double(rest[0]), seconds >= 0 else {
                throw Refusal("'\(rest[0])' is no time in seconds")
            }
            DispatchQueue.main.asyncAfter(deadline: .now() + seconds) { done() }
        case ("help", 0):
            say(Self.help)
            done()
        case ("quit", 0): leave()
        default: return false
        }
        return true
    }

    private func performChange(_ verb: String, _ rest: [String]) throws {
        switch (verb, rest.count) {
        case ("add", 1...): try add(rest)
        case ("done", 1), ("open", 1): try change(rest[0]) { $0.isDone = verb == "done" }
        case ("rename", 2...): try change(rest[0]) { $0.title = rest.dropFirst().joined(separator: " ") }
        case ("give", 2): try change(rest[0]) { $0.owner = try person(rest[1]) }
        case ("move", 2):
            let (todo, target) = (try screen.todo(rest[0]), try screen.todo(rest[1]))
            try connection.write { _ in
                let todos = try namedList().todos
                guard let from = try todos.index(of: todo), let to = try todos.index(of: target) else {
                    throw Refusal("one of them is not in \(list)")
                }
                todos.move(from: from, to: to)
            }
        case ("remove", 1):
            let todo = try screen.todo(rest[0])
            try connection.write { try $0.delete(todo) }
        case ("clear", 0):
            try connection.write {
                for todo in try $0.objects(Todo.self).where(\.isDone == true) { try $0.delete(todo) }
            }
        default: throw Refusal("'\(verb)' with \(rest.count) words is nothing that can be done; 'help' has a list")
        }
    }

    private func change(_ number: String, _ body: (Todo) throws -> Void) throws {
        let todo = try screen.todo(number)
        try connection.write { _ in try body(todo) }
    }

    private func add(_ words: [String]) throws {
        try connection.write { connection in
            let todo = Todo()
            todo.title = words.filter { !$0.hasPrefix("@") }.joined(separator: " ")
            todo.owner = try words.first { $0.hasPrefix("@") }.map { try person(String($0.dropFirst())) }
            try connection.add(todo)
            try namedList().todos.append(todo)
        }
    }

    /// Returns the list with the current name, and adds it if it is missing, in the present write or in its own.
    private func namedList() throws -> TodoList {
        if let known = try connection.object(TodoList.self, forPrimaryKey: list) { return known }
        if !connection.isInWrite { return try connection.write { _ in try namedList() } }
        let made = TodoList()
        made.name = list
        try connection.add(made)
        return made
    }

    /// Returns the person with this name, and adds it if it is missing. Must be called in a write.
    private func person(_ name: String) throws -> Person {
        if let known = try connection.object(Person.self, forPrimaryKey: name) { return known }
        let made = Person()
        made.name = name
        try connection.add(made)
        return made
    }
}
