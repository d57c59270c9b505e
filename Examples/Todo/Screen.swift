// The screen: the rows of one query, which follow its changes, one watched to-do, and the number of open ones in the
// title.
import Foundation
import StillingWell

/// Shows to-dos of one connection. Used on the main queue.
@MainActor
final class Screen {
    let connection: Connection
    private(set) var rows: Results<Todo>?
    private var title = ""
    private var token: NotificationToken?
    private var watched: Binding?
    private var badge: NotificationToken?
    /// The caller that waits for a number of rows. A count of nil waits for the first rows.
    private var awaited: (count: Int?, done: @Sendable () -> Void)?

    init(_ store: Store) throws {
        connection = try store.connect(on: .main)
        let open = try connection.objects(Todo.self).where(\.isDone == false)
        badge = try open.sorted(by: \.title).observe { [unowned self] _ in showBadge(open.count) }
    }

    /// Shows the number of open to-dos in the terminal's title, if the output is a terminal.
    private func showBadge(_ count: Int) {
        if isatty(1) == 1 { FileHandle.standardOutput.write(Data("\u{1b}]0;todo (\(count))\u{07}".utf8)) }
    }

    /// Shows the rows of a query instead of the previous one. Calls `done` when they are shown.
    func show(_ title: String, _ rows: Results<Todo>, done: @escaping @Sendable () -> Void) throws {
        token?.invalidate()
        (self.title, self.rows) = (title, rows)
        awaited = (nil, done)
        token = try rows.observe { [unowned self] change in told(change) }
    }

    private func told(_ change: ResultsChange<Todo>) {
        switch change {
        case .initial(let rows):
            say("\(title): \(rows.count)")
            for index in rows.indices { say("  \(index + 1) \(rows[index].row)") }
            if let awaited, awaited.count == nil { finish() }
        case .update(let rows, let changes):
            for index in changes.deletions { say("- \(index + 1)") }
            for index in changes.insertions { say("+ \(index + 1) \(rows[index].row)") }
            for index in changes.modificationsNew { say("~ \(index + 1) \(rows[index].row)") }
        case .error(let error): say("error: \(error)")
        }
        if let awaited, awaited.count == rows?.count { finish() }
    }

    private func finish() {
        awaited?.done()
        awaited = nil
    }

    /// Calls `done` as soon as `count` rows are shown.
    func wait(for count: Int, done: @escaping @Sendable () -> Void) {
        awaited = (count, done)
        if rows?.count == count { finish() }
    }

    /// Returns the to-do of a row by its number on the screen.
    func todo(_ number: String) throws -> Todo {
        guard let rows, let row = Int(number), rows.indices.contains(row - 1) else {
            throw Refusal("there is no row \(number): the screen has \(rows?.count ?? 0)")
        }
        return rows[row - 1]
    }

    /// Shows a to-do in a line, and again whenever that line changes.
    func watch(_ todo: Todo) {
        watched = Binding {
            if todo.isInvalidated { return "gone" }
            return
                "\(todo.title) is \(todo.isDone ? "done" : "open") and \(todo.owner.map { "\($0.name)'s" } ?? "nobody's")"
        } show: {
            say("= \($0)")
        }
    }
}

/// An error in a typed line.
struct Refusal: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Prints a line without buffering, because a process may read it from a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
