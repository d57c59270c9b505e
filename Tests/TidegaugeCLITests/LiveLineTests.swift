// What is left on a terminal: the live line is gone before anything else is written.
import Foundation
import Testing

@Suite struct LiveLineTests {
    private static let scenario = """
        purpose: What stays on the screen?
        represents: itself
        drivers: [noop]
        dataset: { items: 50 }
        observers: { count: 1 }
        writers: { rate: 100/s }
        measure: [end_to_end_latency]
        limits: { end_to_end_latency: "< 1ns" }
        gate: end_to_end_latency
        warm_up: 10ms
        duration: 50ms
        repeat: 3

        """

    /// Runs it with both outputs on a terminal; what the terminal was sent.
    private func onTerminal(_ arguments: [String], in folder: Folder) throws -> String {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN, which no header gives to Swift.
        var (unlocked, number) = (Int32(0), Int32(0))
        try #require(
            master >= 0 && ioctl(master, 0x4004_5431, &unlocked) == 0 && ioctl(master, 0x8004_5430, &number) == 0)
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(terminal >= 0)
        let process = Binary.tidegauge.process(arguments, in: folder)
        var environment = ProcessInfo.processInfo.environment
        environment["NO_COLOR"] = nil
        process.environment = environment
        process.standardOutput = FileHandle(fileDescriptor: terminal)
        process.standardError = FileHandle(fileDescriptor: terminal)
        try process.run()
        close(terminal)
        var sent: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        // An error is how a terminal says that nobody holds its other end any more.
        while true {
            let count = read(master, &buffer, buffer.count)
            guard count > 0 else { break }
            sent += buffer[..<count]
        }
        close(master)
        process.waitUntilExit()
        return String(decoding: sent, as: UTF8.self)
    }

    /// The lines that stay, as a terminal shows them that knows how to take a line away.
    private func shown(_ text: String) -> [String] {
        text.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.components(separatedBy: "\r\u{1B}[2K").last ?? ""
        }
    }

    @Test func nothingStandsBehindTheLiveLine() throws {
        let folder = try Folder()
        try folder.write("a.yaml", Data(Self.scenario.utf8))
        let text = try onTerminal(["run", "a.yaml", "--out", "out"], in: folder)
        #expect(text.contains("\r\u{1B}[2K[1/"), "no live line: \(text)")
        let lines = shown(text)
        #expect(lines.contains { $0.hasPrefix("Report: out/") }, "\(lines)")
        for line in lines { #expect(!line.contains("trial 0") && !line.contains("left"), "\(line)") }
    }
}
