// Tests of the documents.
import Foundation
import Testing

@Suite struct DocumentTests {
    /// Markdown files of the repository that are checked.
    private static let documents: [String] =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Reports/README.md", "Scenarios/README.md"]
        + (try! FileManager.default.contentsOfDirectory(atPath: "\(Module.root)/Docs"))
        .filter { $0.hasSuffix(".md") }.sorted().map { "Docs/\($0)" }

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(Module.root)/\(path)", encoding: .utf8)
    }

    /// Anchors that GitHub makes of the headings of a document.
    private static func anchors(_ text: String) -> Set<String> {
        let headings = text.split(separator: "\n").filter { $0.hasPrefix("#") }
        return Set(
            headings.map { heading in
                let title = heading.drop { $0 == "#" || $0 == " " }.lowercased()
                return String(
                    title.compactMap { character -> Character? in
                        if character == " " { return "-" }
                        return character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
                    })
            })
    }

    @Test(arguments: documents)
    func linksLeadToFilesAndHeadings(document: String) throws {
        let text = try Self.text(document)
        let folder = URL(fileURLWithPath: "\(Module.root)/\(document)").deletingLastPathComponent()
        for match in text.matches(of: #/\]\(([^()\s]+)\)/#) where !match.output.1.contains("://") {
            let parts = match.output.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let target = parts[0].isEmpty ? document : String(parts[0])
            let path = parts[0].isEmpty ? "\(Module.root)/\(document)" : folder.appendingPathComponent(target).path
            guard FileManager.default.fileExists(atPath: path) else {
                Issue.record("\(document): there is no \(target): correct the link")
                continue
            }
            if parts.count == 2, path.hasSuffix(".md") {
                let headings = Self.anchors(try String(contentsOfFile: path, encoding: .utf8))
                #expect(headings.contains(String(parts[1])), "\(document): \(target) has no heading #\(parts[1])")
            }
        }
    }

    /// A merge can leave both versions of a passage in a file that no compiler reads.
    @Test func noDocumentHasConflictMarkers() throws {
        let articles = "Sources/StillingWell/StillingWell.docc"
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(Module.root)/\(articles)")
            .filter { $0.hasSuffix(".md") }
        #expect(names.count > 10)
        for path in Self.documents + names.map({ "\(articles)/\($0)" }) {
            let hasMarker = try Self.text(path).split(separator: "\n").contains {
                $0.hasPrefix("<<<<<<< ") || $0.hasPrefix(">>>>>>> ")
            }
            #expect(!hasMarker, "\(path): resolve the merge conflict")
        }
    }

    @Test func rulesNameTheirTests() throws {
        let text = try Self.text("Docs/rules.md")
        let names = try FileManager.default.contentsOfDirectory(
            atPath: "\(Module.root)/Tests/StillingWellTests/Rules"
        ).filter { $0.hasPrefix("Rule") && $0.hasSuffix("Tests.swift") }
        #expect(names.count > 20)
        let sections = text.components(separatedBy: "\n### Rule ").dropFirst()
        for name in names {
            let number = try #require(Int(name.dropFirst(4).prefix(2)), "\(name) has no number")
            let section = sections.first { $0.hasPrefix("\(number):") }
            #expect(section?.contains("/Rules/\(name))") == true, "Docs/rules.md: rule \(number) does not name \(name)")
        }
        #expect(sections.count == Set(names.map { $0.prefix(6) }).count, "Docs/rules.md: a rule has no tests")
    }

    @Test func documentsKeepTheirSizes() throws {
        #expect(try Self.text("README.md").utf8.count <= 9_000, "README.md: move details to Docs/")
        let changes = try Self.text("CHANGELOG.md").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(changes.count <= 121, "CHANGELOG.md has more than 120 lines: join entries")
        for line in changes where line.count > 160 { Issue.record("CHANGELOG.md: more than 160 characters: \(line)") }
    }
}
