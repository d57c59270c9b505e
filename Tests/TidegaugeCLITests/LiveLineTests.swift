// Tests of the output on a terminal.
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
        profiles: { full: { duration: 1s } }

        """

    /// Runs the binary with both outputs on a terminal, and returns what it wrote to the terminal.
    /// - Parameter columns: width of the terminal.
    private func onTerminal(
        _ arguments: [String], in folder: Folder, columns: UInt16 = 80, noColour: String? = nil, kind: String? = "xterm"
    ) throws -> String {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN, which no header imports into Swift.
        var (unlocked, number) = (Int32(0), Int32(0))
        try #require(
            master >= 0 && ioctl(master, 0x4004_5431, &unlocked) == 0 && ioctl(master, 0x8004_5430, &number) == 0)
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(terminal >= 0)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0)
        let process = Binary.tidegauge.process(arguments, in: folder)
        var environment = ProcessInfo.processInfo.environment
        (environment["NO_COLOR"], environment["TERM"]) = (noColour, kind)
        process.environment = environment
        process.standardOutput = FileHandle(fileDescriptor: terminal)
        process.standardError = FileHandle(fileDescriptor: terminal)
        try process.run()
        close(terminal)
        var sent: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        // A read error means that no process has the terminal open any more.
        while true {
            let count = read(master, &buffer, buffer.count)
            guard count > 0 else { break }
            sent += buffer[..<count]
        }
        close(master)
        process.waitUntilExit()
        return String(decoding: sent, as: UTF8.self)
    }

    /// Returns the lines that remain on a terminal that can erase a line.
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
        // After the first trial the time left is known, and it comes first.
        let live = text.components(separatedBy: "\r\u{1B}[2K").filter { $0.hasPrefix("[") || $0.contains(" left ") }
        #expect(live.contains { $0.contains(/^[0-9]+:[0-9][0-9] left \[[2-9]\//) }, "\(live)")
        #expect(live.allSatisfy { !$0.contains(" left ") || $0.contains(/^[0-9]+:[0-9][0-9] left \[/) }, "\(live)")
    }

    @Test("A terminal that moves no cursor gets text alone", arguments: [nil, "", "dumb"])
    func dumb(kind: String?) throws {
        let folder = try Folder()
        try folder.write("a.yaml", Data(Self.scenario.utf8))
        let text = try onTerminal(["run", "a.yaml", "--out", "out", "--set", "repeat=1"], in: folder, kind: kind)
        #expect(!text.contains("\u{1B}") && text.contains("Report: out/"), "\(text)")
    }

    @Test("Answers and the machine's line break between words", arguments: [60, 80] as [UInt16])
    func answers(columns: UInt16) throws {
        let folder = try Folder()
        try folder.write("a.yaml", Data(Self.scenario.utf8))
        let text = try onTerminal(
            ["run", "a.yaml", "--out", "out", "--profile", "smoke"], in: folder, columns: columns, noColour: "1")
        let lines = shown(text).drop { !$0.hasPrefix("How fast?") }
        #expect(lines.contains { $0.hasPrefix("Machine: ") }, "\(lines)")
        for line in lines where !line.hasPrefix("Report: ") { #expect(line.count <= columns, "\(line)") }
    }

    @Test("Tables fit the terminal, and are whole where there is none", arguments: [50, 72, 200] as [UInt16])
    func tables(columns: UInt16) throws {
        let folder = try Folder()
        let swept = Self.scenario.replacingOccurrences(
            of: "repeat: 3", with: "sweep: { dataset.items: [50, 60], observers.count: [1] }")
        try folder.write("a.yaml", Data(swept.utf8))
        let arguments = ["run", "a.yaml", "--out", "out", "--profile", "smoke"]
        let text = try onTerminal(arguments, in: folder, columns: columns, noColour: "1")
        #expect(!text.contains("\u{1B}["))
        let lines = shown(text)
        let table = lines.prefix { !$0.isEmpty }
        #expect(table.first == "a" && table.count > 3, "\(lines)")
        #expect(table.allSatisfy { $0.count <= columns }, "\(table)")
        #expect(table.contains { $0.contains("dataset.items=60;observers.count=1") } == (columns > 100), "\(table)")
        #expect(table.contains { $0.contains("dataset.items=60;") }, "\(table)")
        let plain = try Binary.tidegauge.run(arguments, in: folder).output
        #expect(plain.contains("dataset.items=60;observers.count=1"), "\(plain)")
    }

    @Test("Verdicts are coloured on a terminal unless NO_COLOR is set, and nowhere else")
    func colour() throws {
        let folder = try Folder()
        try folder.write("a.yaml", Data(Self.scenario.utf8))
        let arguments = ["run", "a.yaml", "--out", "out", "--set", "repeat=1"]
        // On a busy machine the limit is not judged, which has another colour.
        #expect(
            try onTerminal(arguments, in: folder).contains(#/\u{1B}\[3[13]mlimit (broken|not judged)\u{1B}\[0m: a: /#))
        let without = try onTerminal(arguments, in: folder, noColour: "1")
        #expect(
            shown(without).contains { $0.contains(#/^limit (broken|not judged): a: /#) } && !without.contains("\u{1B}[")
        )
        let plain = try Binary.tidegauge.run(arguments, in: folder)
        #expect(
            plain.output.contains(#/\nlimit (broken|not judged): a: /#)
                && !(plain.output + plain.errors).contains("\u{1B}"))
    }
}
