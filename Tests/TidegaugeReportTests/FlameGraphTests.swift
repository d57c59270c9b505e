import Foundation
import Testing
import TidegaugeProfiles

@testable import TidegaugeReport

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("Flame graph of a difference")
struct FlameGraphTests {
    /// Makes a profile from chains, outermost caller first, and the instructions of the last function.
    private func profile(_ costs: [([String], Int)]) throws -> CallProfile {
        let lines = costs.flatMap { ["fn=\($0.0.reversed().joined(separator: "'"))", "1 \($0.1)"] }
        let text = (["events: Ir"] + lines + ["totals: \(costs.reduce(0) { $0 + $1.1 })"]).joined(separator: "\n")
        return CallProfile(try #require(CallgrindFile.parts(Array(text.utf8), path: "costs").first))
    }

    private var difference: ProfileDifference {
        get throws {
            try ProfileDifference(
                base: profile([
                    (["main"], 2_000), (["main", "walk"], 60_000), (["main", "walk", "swift_retain"], 10_000),
                    (["main", "std::map<int, \"a&b\">::at(int)"], 5_000), (["main", "gone"], 9_000), (["tiny"], 20),
                ]),
                head: profile([
                    (["main"], 2_000), (["main", "walk"], 66_000), (["main", "walk", "swift_retain"], 31_000),
                    (["main", "std::map<int, \"a&b\">::at(int)"], 4_900), (["main", "new"], 1_234), (["tiny"], 30),
                ]))
        }
    }

    @Test("The flame graph equals the golden file") func golden() throws {
        let svg = try FlameGraph.svg(difference, title: "main → <tip>, thread 2", operation: "commit")
        try Fixture.expectGolden(svg, "flame.svg")
        #expect(svg.contains("1 frame narrower than 0.1 % is left out") && !svg.contains("<title>tiny"))
    }

    @Test("The flame graph is well-formed XML, and every frame lies within its caller's") func isXML() throws {
        let reader = FrameReader()
        let parser = XMLParser(data: Data(try FlameGraph.svg(difference, title: "a & b").utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(reader.titles.contains { $0.hasPrefix("std::map<int, \"a&b\">::at(int)\n5,000 → 4,900 instructions") })
        #expect(reader.titles.contains { $0.hasSuffix("0 → 1,234 instructions per operation, +1,234 (new)") })
        #expect(reader.titles.contains { $0.hasSuffix("9,000 → 0 instructions per operation, -9,000 (-100 %)") })
        #expect(reader.frames.count == 7)
        for frame in reader.frames where frame.depth > 0 {
            let isWithin = reader.frames.contains { caller in
                caller.depth == frame.depth - 1 && caller.x <= frame.x + 1e-5
                    && caller.x + caller.width >= frame.x + frame.width - 1e-5
            }
            #expect(isWithin)
        }
        #expect(!reader.attributes.contains { $0.key == "href" || $0.key == "src" })
    }

    @Test("Two profiles without a cost are a picture too") func empty() {
        let svg = FlameGraph.svg(ProfileDifference(base: .empty, head: .empty), title: "nothing")
        #expect(XMLParser(data: Data(svg.utf8)).parse() && svg.contains("<title>all\n0 → 0"))
    }
}

private final class FrameReader: NSObject, XMLParserDelegate {
    var frames: [(x: Double, width: Double, depth: Int)] = []
    var titles: [String] = []
    var attributes: [(key: String, value: String)] = []
    private var isTitle = false

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes found: [String: String]
    ) {
        attributes += found.map { ($0.key, $0.value) }
        isTitle = name == "title"
        if isTitle { titles.append("") }
        if let x = found["data-x"].flatMap(Double.init), let width = found["data-w"].flatMap(Double.init),
            let depth = found["data-d"].flatMap({ Int($0) })
        {
            frames.append((x, width, depth))
        }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if isTitle { titles[titles.count - 1] += text }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        isTitle = false
    }
}
