import Foundation
import StillingWellFixtures
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Signals beside a store", .serialized, .onThreads)
struct SignalTests {
    private let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"

    /// Returns the fixture's output and the signal that ended it.
    private func said(_ kind: String, _ number: Int32) throws -> (lines: [String], signal: Int32?) {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = try FixtureProcess(path: path, .relaxed, ["signals", kind, "\(number)"])
        try process.waitForEnd()
        return (process.lines, process.endingSignal)
    }

    @Test("a sent signal ends a program without a handler", arguments: [SIGSEGV, SIGBUS, SIGFPE])
    func unhandled(_ number: Int32) throws {
        let (lines, signal) = try said("default", number)
        #expect(lines == [] && signal == number, "\(lines) \(signal ?? 0)")
    }

    @Test(
        "a sent signal reaches the program's handler each time, with its mask; a file that is then truncated is an error",
        arguments: [SIGSEGV, SIGBUS, SIGFPE],
        [
            ("nodefer", "handler sent open masked"), ("deferring", "handler sent blocked masked"),
            ("plain", "handler sent blocked masked"),
        ])
    func handled(_ number: Int32, _ kind: (String, String)) throws {
        let (lines, signal) = try said(kind.0, number)
        #expect(lines.dropLast() == [kind.1, "went on", kind.1, "went on"] && signal == nil, "\(lines) \(signal ?? 0)")
        #expect(lines.last?.hasPrefix("cut: ") == true, "\(lines)")
    }

    @Test("an ignored signal is ignored each time", arguments: [SIGSEGV, SIGBUS])
    func ignored(_ number: Int32) throws {
        let (lines, signal) = try said("ignored", number)
        #expect(lines.dropLast() == ["went on", "went on"] && signal == nil, "\(lines) \(signal ?? 0)")
        #expect(lines.last?.hasPrefix("cut: ") == true, "\(lines)")
    }

    @Test("a handler with SA_RESETHAND is called once")
    func once() throws {
        let (lines, signal) = try said("once", SIGSEGV)
        #expect(lines == ["handler sent blocked masked", "went on"] && signal == SIGSEGV, "\(lines) \(signal ?? 0)")
    }

    @Test("a SIGSEGV of the program reaches the program's own handler")
    func fault() throws {
        let (lines, signal) = try said("fault", SIGSEGV)
        #expect(lines == ["handler fault open masked"] && signal == nil, "\(lines) \(signal ?? 0)")
    }

    @Test("programs that this one starts inherit no descriptor of a store")
    func closeOnExec() throws {
        let test = try TestStore(durability: .full)
        try test.store.write { try $0.add(Note(id: 1)) }
        try test.store.read { _ = try $0.objects(Note.self).count }
        let folder = "/proc/self/fd"
        var files: [String: Int] = [:]
        for number in try FileManager.default.contentsOfDirectory(atPath: folder) {
            guard let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)"),
                file.hasPrefix(test.path),
                let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(number)", encoding: .utf8),
                let flags = text.split(separator: "\n").first(where: { $0.hasPrefix("flags:") })?.split(separator: "\t")
                    .last
            else { continue }
            files[file, default: 0] += 1
            #expect(try #require(Int(flags, radix: 8)) & Int(O_CLOEXEC) != 0, "\(file): \(flags)")
        }
        for name in ["data.mdb", "lock.mdb", "shared", "durable.mdb"] {
            #expect(files["\(test.path)/\(name)"] != nil, "\(files)")
        }
    }
}
