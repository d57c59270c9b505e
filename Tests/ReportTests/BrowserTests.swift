// Pages used as a reader does, in a headless Chromium (`Tools/page_test.py`): a run with hostile names, two runs on one page, and
// the reference run of this repository.
import Foundation
import Testing

@testable import Report

@Suite("Pages in a browser")
struct BrowserTests {
    @Test(
        "They answer on the first screen, hover, zoom, filter, print, and the console has no errors",
        .enabled("there is no Chromium, or no Python: make page-test installs or names what is missing") {
            browser != nil && python != nil
        })
    func used() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
        try Fixture.withFolder { folder in
            try WholeRun.write(in: folder)
            let run = "\(folder)/\(WholeRun.runID)"
            let later = "\(folder)/later"
            try FileManager.default.copyItem(atPath: run, toPath: later)
            let pair = try PairReport.write(base: run, head: later).path
            let reference = "\(folder)/reference"
            try FileManager.default.copyItem(atPath: "\(root)/Reports/reference", toPath: reference)
            try FinalReports().write(into: reference)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try #require(python))
            process.arguments =
                ["\(root)/Tools/page_test.py"] + [run, reference].map { "\($0)/\(FinalReports.htmlName)" } + [pair]
            let said = "\(folder)/said"
            #expect(FileManager.default.createFile(atPath: said, contents: nil))
            let output = try #require(FileHandle(forWritingAtPath: said))
            (process.standardOutput, process.standardError) = (output, output)
            process.standardInput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            let text = try String(contentsOfFile: said, encoding: .utf8)
            #expect(process.terminationStatus == 0, "\(text)")
            #expect(text.components(separatedBy: "checks hold").count == 4, "\(text)")
        }
    }
}

private func program(_ names: [String]) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return names.lazy.flatMap { name in folders.lazy.map { "\($0)/\(name)" } }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}

private let browser = program(["chromium", "chromium-browser", "google-chrome"])
private let python = program(["python3"])
