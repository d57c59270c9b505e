// What loops of this program execute, each in a process of its own under callgrind.
import Foundation
import Measure

/// Counts the instructions of loops of this program.
struct InstructionCounted {
    /// Of the operations of a timed run, the short and the long counted one do these parts: enough of cheap ones for what happens
    /// once to disappear.
    private static let fewPart = 50
    private static let manyPart = 10

    private let valgrind: String
    /// Without debug information, which valgrind cannot read in the form that Swift writes.
    private let program: String

    /// nil where nothing counts.
    init?(in folder: String) throws {
        guard let valgrind = Subprocess.find(Callgrind.program), let strip = Subprocess.find("strip") else {
            return nil
        }
        self.valgrind = valgrind
        program = "\(folder)/program"
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        guard try Subprocess.run(strip, ["--strip-debug", "-o", program, own]).isSuccess else { return nil }
    }

    /// - Parameter arguments: those of the program for so many operations.
    func perOperation(of operations: Int, _ arguments: (Int) -> [String]) throws -> Int {
        let few = max(1, operations / Self.fewPart)
        let many = max(4, operations / Self.manyPart)
        return (try count(arguments(many)) - count(arguments(few))) / (many - few)
    }

    private func count(_ arguments: [String]) throws -> Int {
        let options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", program]
        let ran = try Subprocess.run(valgrind, options + arguments)
        let line = String(decoding: ran.errors, as: UTF8.self).split(separator: "\n").last { $0.contains("Collected") }
        guard ran.isSuccess, let count = line?.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw Failure(description: "\(arguments): \(String(decoding: ran.errors, as: UTF8.self))")
        }
        return count
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }
}
