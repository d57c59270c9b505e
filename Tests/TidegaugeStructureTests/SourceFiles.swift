// The sources as text. Types, words and switches are found by text searches, without a compiler.
import Foundation

/// One file: its lines, and what its code names.
struct SourceFile {
    /// Path from the root of the repository.
    let path: String
    let lines: [Substring]
    /// Each line up to its first `//`, even if that is in a string.
    let code: String
    /// Types at the top level that other files can name.
    let types: Set<String>
    /// Words outside of strings and comments that could name a type: they begin with a capital letter.
    let words: Set<String>

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let code = lines.map { Self.withoutComment($0) }
        self.code = code.joined(separator: "\n")
        // A regular expression is slow, and most lines are indented.
        let declarations = code.filter { ($0.utf8.first ?? 0x20) > 0x20 }.compactMap { line -> Substring? in
            guard let match = line.prefixMatch(of: Self.declaration), !match.output.1.contains("private") else {
                return nil
            }
            // A typealias that only repeats the name of another module's type declares no further type.
            let original = line.firstMatch(of: #/\btypealias \w+ = \w+\.(\w+)$/#)?.output.1
            return original == match.output.2 ? nil : match.output.2
        }
        types = Set(declarations.map(String.init))
        let isOfAWord = { (byte: UInt8) in
            byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
        }
        words = Set(
            Self.withoutStrings(self.code).utf8.split { !isOfAWord($0) }.filter { (0x41...0x5A).contains($0.first!) }
                .map { String($0)! })
    }

    /// Lines whose code has a text, counted from 0.
    func places(of text: String) -> [(file: SourceFile, line: Int)] {
        guard code.contains(text) else { return [] }
        return lines.indices.filter { Self.withoutComment(lines[$0]).contains(text) }.map { (self, $0) }
    }

    /// The comment that ends on the line before, in one line, or an empty text if there is none.
    func comment(before line: Int) -> String {
        let comment = lines[..<line].reversed().prefix { $0.drop { $0 == " " }.hasPrefix("//") }.reversed()
        return comment.map { $0.drop { $0 == " " || $0 == "/" } }.joined(separator: " ")
    }

    private static func withoutComment(_ line: Substring) -> Substring {
        let bytes = line.utf8
        var index = bytes.startIndex
        while let slash = bytes[index...].firstIndex(of: UInt8(ascii: "/")) {
            index = bytes.index(after: slash)
            if index < bytes.endIndex, bytes[index] == UInt8(ascii: "/") { return line[..<slash] }
        }
        return line
    }

    private static func withoutStrings(_ code: String) -> String {
        code.replacing(#/"""(?s:.*?)"""|"(?:\\.|[^"\\\n])*"/#, with: "")
    }

    nonisolated(unsafe) private static let declaration =
        #/(?:@\w+(?:\([^)]*\))?\s+)*((?:(?:public|package|internal|private|fileprivate|final|indirect|nonisolated|open)\s+)*)(?:class|struct|enum|protocol|actor|typealias)\s+(\w+)/#
}

/// A target of `Sources/`.
struct Module {
    let name: String
    let files: [SourceFile]

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// All targets with Swift files: folders of `Sources/`, and drivers.
    static let all: [Module] = {
        let folders = try! FileManager.default.contentsOfDirectory(atPath: "\(root)/Sources").sorted()
        let drivers = try! FileManager.default.contentsOfDirectory(atPath: "\(root)/Sources/Drivers").sorted()
        let paths = folders.filter { $0 != "Drivers" } + drivers.map { "Drivers/\($0)" }
        return paths.map { Module($0) }.filter { !$0.files.isEmpty }
    }()

    init(_ name: String) {
        self.name = name
        let folder = "\(Self.root)/Sources/\(name)"
        let found = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        files = found.filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }.sorted().map {
            SourceFile(
                path: "Sources/\(name)/\($0)", text: try! String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8))
        }
    }

    init(name: String, files: [SourceFile]) {
        self.name = name
        self.files = files
    }

    /// The largest set of files that refer to each other's types in cycles, directly or through other files.
    var largestCircle: [String] {
        Self.circles(references).max { $0.count < $1.count }?.map { files[$0].path }.sorted() ?? []
    }

    /// Pairs of folders with files that name types of each other.
    var mutualFolders: [String] {
        let folders = files.map { $0.path.split(separator: "/").dropLast().joined(separator: "/") }
        var named: [String: Set<String>] = [:]
        for (index, others) in references.enumerated() {
            named[folders[index], default: []].formUnion(others.map { folders[$0] })
        }
        return named.flatMap { folder, others in
            others.filter { folder < $0 && named[$0]?.contains(folder) == true }.map { "\(folder) and \($0)" }
        }.sorted()
    }

    /// For each file, the others that declare types which it names. Types that several files declare are left out.
    var references: [Set<Int>] {
        var owners: [String: [Int]] = [:]
        for (index, file) in files.enumerated() {
            for type in file.types { owners[type, default: []].append(index) }
        }
        return files.enumerated().map { index, file in
            Set(file.words.compactMap { owners[$0]?.count == 1 ? owners[$0]![0] : nil }).subtracting([index])
        }
    }

    /// Strongly connected components (Tarjan 1972).
    static func circles(_ edges: [Set<Int>]) -> [[Int]] {
        var order = [Int?](repeating: nil, count: edges.count)
        var low = [Int](repeating: 0, count: edges.count)
        var isOpen = [Bool](repeating: false, count: edges.count)
        var (open, found, next): ([Int], [[Int]], Int) = ([], [], 0)
        func visit(_ node: Int) {
            order[node] = next
            low[node] = next
            next += 1
            open.append(node)
            isOpen[node] = true
            for other in edges[node] {
                if order[other] == nil {
                    visit(other)
                    low[node] = min(low[node], low[other])
                } else if isOpen[other] {
                    low[node] = min(low[node], order[other]!)
                }
            }
            guard low[node] == order[node] else { return }
            let start = open.lastIndex(of: node)!
            for member in open[start...] { isOpen[member] = false }
            found.append(Array(open[start...]))
            open.removeSubrange(start...)
        }
        for node in edges.indices where order[node] == nil { visit(node) }
        return found
    }
}

/// A `switch`, found by its braces.
struct SwitchStatement {
    let path: String
    /// The names behind the dots of its cases.
    let labels: Set<String>
    let hasDefault: Bool

    /// Switch statements of all files with the word `default`.
    static let all: [SwitchStatement] = Module.all.flatMap(\.files).flatMap { all(in: $0) }

    static func all(in file: SourceFile) -> [SwitchStatement] {
        guard file.code.range(of: "default") != nil else { return [] }
        return file.code.matches(of: #/\bswitch\b[^{\n]*\{/#).map { match in
            let body = braced(file.code, from: match.range.upperBound)
            // Cases of a switch within are its own.
            let own = body.replacing(#/\bswitch\b[^{\n]*\{/#, with: "{")
            let labels = own.matches(of: #/\bcase\s+([^:\n]+)/#).flatMap { label in
                label.output.1.replacing(#/\bwhere\b.*/#, with: "").matches(of: #/\.(\w+)/#).map { String($0.output.1) }
            }
            return SwitchStatement(
                path: file.path, labels: Set(labels), hasDefault: own.contains(#/(?:^|[^\s,(])\s*\bdefault\s*:/#))
        }
    }

    /// Returns the code up to the brace that closes the one before `start`, without the content of inner braces.
    private static func braced(_ code: String, from start: String.Index) -> String {
        var depth = 1
        var body: [UInt8] = []
        for byte in code.utf8[start...] {
            if byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: "}") { depth -= 1 }
            if depth == 0 { break }
            if depth == 1 { body.append(byte) }
        }
        return String(decoding: body, as: UTF8.self)
    }
}

extension SourceFile {
    /// The names of the cases of an enum, or nil if it is not declared in this file.
    func cases(of name: String) -> Set<String>? {
        guard let declared = try? Regex("\\benum \(name)\\b[^{]*\\{").firstMatch(in: code) else { return nil }
        var depth = 1
        var names: Set<String> = []
        for line in code[declared.range.upperBound...].split(separator: "\n", omittingEmptySubsequences: false) {
            if depth == 1, let list = line.firstMatch(of: #/^\s*(?:indirect )?case (.*)/#) {
                let plain = list.output.1.replacing(#/\([^)]*\)/#, with: "")
                for part in plain.split(separator: ",") {
                    if let name = part.firstMatch(of: #/^\s*`?(\w+)/#) { names.insert(String(name.output.1)) }
                }
            }
            depth += line.count { $0 == "{" } - line.count { $0 == "}" }
            if depth <= 0 { break }
        }
        return names
    }
}
