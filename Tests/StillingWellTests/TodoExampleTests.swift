// Tests of the to-do application of Examples/Todo: two processes on one file, by a script and by typed input.
import Foundation
import StillingWellSync
import Testing

@Suite("The to-do application")
struct TodoExampleTests {
    private let folder = NSTemporaryDirectory() + "todo-example-\(UUID().uuidString)"

    private func script(_ lines: [String]) throws -> String {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = folder + "/script.txt"
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: file))
        return file
    }

    @Test("two applications on one file show each other's changes, and so do bindings")
    func twoProcesses() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try script([
            "list home", "add milk @ada", "add bread", "until 1", "add eggs", "add tea @bob", "until 3", "rename 9 x",
        ])
        let one = try FixtureProcess("stillingwell-todo", [folder + "/store", "--script", file])
        let other = try FixtureProcess("stillingwell-todo", [folder + "/store"])
        for line in ["list home", "until 2", "watch 1", "done 1", "until 3", "all", "quit"] { try other.type(line) }
        let first = try await one.output.reached("the end of the script") { $0.isOver }.lines
        let second = try await other.output.reached("the end of what is typed") { $0.isOver }.lines
        #expect(first.contains("home: 0") || first.contains("home: 1"), "\(first)")
        // Rows that the other process removed leave the screen, and added rows come last.
        #expect(first.contains("- 1"), "\(first)")
        #expect(
            first.suffix(3) == ["+ 2 [ ] eggs", "+ 3 [ ] tea (bob)", "error: there is no row 9: the screen has 3"],
            "\(first)")
        #expect(second.contains("= milk is open and ada's") && second.contains("= milk is done and ada's"), "\(second)")
        let all = ["all: 4", "  1 [ ] bread", "  2 [ ] eggs", "  3 [x] milk (ada)", "  4 [ ] tea (bob)"]
        #expect(second.suffix(5) == all[...], "\(second)")
    }

    @Test("a script moves, links, finishes, clears, renames, finds and removes tasks")
    func everything() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try script([
            "# a comment", "list home", "add one", "add two @ada", "add three", "move 3 1", "give 2 ada", "done 3",
            "clear",
            "rename 1 third", "find T", "remove 1", "open 1", "nonsense", "quit",
        ])
        let program = try FixtureProcess("stillingwell-todo", [folder + "/store", "--script", file])
        let lines = try await program.output.reached("its end") { $0.isOver }.lines
        #expect(
            lines == [
                "home: 0", "+ 1 [ ] one", "+ 2 [ ] two (ada)", "+ 3 [ ] three", "- 3", "+ 1 [ ] three",
                "~ 2 [ ] one (ada)",
                "- 3", "~ 1 [ ] third", "find T: 1", "  1 [ ] third", "- 1",
                "error: there is no row 1: the screen has 0",
                "error: 'nonsense' with 0 words is nothing that can be done; 'help' has a list",
            ], "\(lines)")
    }
}
