// Tests of kinds of refusal: Golden/NAME.yaml is a file, and Golden/NAME.txt has its errors, or nothing if it is valid.
// After a deliberate change run the tests once with TIDEGAUGE_REGENERATE=1 and review the difference.
import Foundation
import Testing

@testable import TidegaugeSpec

@Suite struct GoldenErrorTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")

    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()
    }()

    @Test(arguments: names)
    func isRefusedInTheseWords(_ name: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent("\(name).yaml")))
        let found = complaints(bytes, path: "\(name).yaml").map { $0 + "\n" }.joined()
        let golden = Self.folder.appendingPathComponent("\(name).txt")
        if ProcessInfo.processInfo.environment["TIDEGAUGE_REGENERATE"] != nil {
            try Data(found.utf8).write(to: golden)
        }
        #expect(try String(contentsOf: golden, encoding: .utf8) == found)
    }

    @Test func thereAreManyOfThem() { #expect(Self.names.count >= 40) }
}
