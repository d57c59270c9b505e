// Parses text into a tree of nodes with positions, by Yams. Additionally reports both positions of duplicate keys and
// rejects aliases, so that cyclic or exponential trees cannot be built. Pure.
import TidegaugeSpec
import Yams

#if !Harness
    #error("TidegaugeCLI needs trait Harness of the package tidegauge: add it to `traits:` of the dependency")
#endif

/// A value of a file and its start.
struct YAMLNode {
    struct Entry {
        var key: String
        var position: Position
        var value: YAMLNode
    }

    enum Content {
        /// A scalar; `isPlain` if written without quotes.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// Entries in file order, with unique keys.
        case mapping([Entry])
        /// An unreadable value that is reported already.
        case refused
    }

    var position: Position
    var content: Content

    /// Description for "expects …, found …".
    var description: String {
        switch content {
        case .scalar("", isPlain: true): "nothing"
        case .scalar(let text, isPlain: true): "'\(Quantity.clipped(text))'"
        case .scalar(let text, isPlain: false): "the text \"\(Quantity.clipped(text))\""
        case .sequence: "a list"
        case .mapping: "a map"
        case .refused: "nothing"
        }
    }

    var isRefused: Bool { if case .refused = content { true } else { false } }
}

/// Reads one document.
///
/// The text is changed before parsing, without moving any character, to change two properties of Yams:
/// - `*` and `&` become private-use characters. A plain scalar that starts with one was an alias or an anchor and is
///   refused with its position. Elsewhere they are text and are restored.
/// - Yams stops at the first duplicate key, without the second position. So the first of the two keys is renamed to a
///   private-use word and the text is parsed again. The original name is remembered to report the second one.
struct YAMLTree {
    private static let alias: Unicode.Scalar = "\u{E000}"
    private static let anchor: Unicode.Scalar = "\u{E001}"
    private static let firstRenamed: UInt32 = 0xE100
    /// Maximum number of renamed keys. Each costs a parse of the whole file.
    private static let maximumRenamed = 20
    private static let maximumDepth = 16

    private var scalars: [Unicode.Scalar]
    private let lineStarts: [Int]
    private var renamed: [Position: String] = [:]
    private var hasAliases = false

    /// Returns the root, or nil after reporting a problem. A tree may also have problems.
    static func read(_ text: YAMLText, into problems: inout ProblemList) -> YAMLNode? {
        var tree = YAMLTree(text)
        guard let root = tree.compose(into: &problems) else { return nil }
        let node = tree.convert(root, depth: 0, into: &problems)
        // With aliases, the tree differs from what was meant, and further problems would be misleading.
        return node.isRefused || tree.hasAliases ? nil : node
    }

    private init(_ text: YAMLText) {
        scalars = text.scalars.map { $0 == "*" ? Self.alias : $0 == "&" ? Self.anchor : $0 }
        lineStarts = YAMLText.lineStarts(in: text.scalars)
    }

    // MARK: Parsing

    private mutating func compose(into problems: inout ProblemList) -> Node? {
        while true {
            do {
                let text = String(String.UnicodeScalarView(scalars))
                // No tags are resolved: settings decide whether a word is a number.
                let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
                if let root = try parser.singleRoot() { return root }
                problems.add(.start, "the file holds only comments; a scenario starts with 'purpose: …'")
                return nil
            } catch YamlError.duplicatedKeysInMapping(let names, let context) {
                let first = Position(line: context.mark.line, column: context.mark.column)
                if rename(names.first ?? "", at: first) { continue }
                problems.add(first, "duplicate key '\(restored(names.first ?? ""))'; keep one of them")
                return nil
            } catch {
                report(error, into: &problems)
                return nil
            }
        }
    }

    /// Replaces the key `name` at `position` by private-use characters. Returns false if the text there differs (an
    /// escaped or empty key) or too many keys were replaced.
    private mutating func rename(_ name: String, at position: Position) -> Bool {
        guard renamed.count < Self.maximumRenamed, lineStarts.indices.contains(position.line - 1) else { return false }
        let word = Array(name.unicodeScalars)
        var start = lineStarts[position.line - 1] + position.column - 1
        if start < scalars.count, scalars[start] == "\"" || scalars[start] == "'" { start += 1 }
        let end = start + word.count
        guard !word.isEmpty, end <= scalars.count, Array(scalars[start..<end]) == word else { return false }
        let mark = Unicode.Scalar(Self.firstRenamed + UInt32(renamed.count))!
        for index in start..<end { scalars[index] = mark }
        renamed[position] = restored(name)
        return true
    }

    // MARK: Converting

    private mutating func convert(_ node: Node, depth: Int, into problems: inout ProblemList) -> YAMLNode {
        let position = Self.position(of: node)
        let refused = YAMLNode(position: position, content: .refused)
        guard depth <= Self.maximumDepth else {
            problems.refuse(position, "nested deeper than any scenario; the deepest has 6 levels")
            return refused
        }
        switch node {
        case .scalar(let scalar): return convert(scalar, at: position, into: &problems) ?? refused
        case .sequence(let sequence):
            guard isUntagged(sequence.tag, at: position, into: &problems) else { return refused }
            let values = sequence.map { convert($0, depth: depth + 1, into: &problems) }
            return YAMLNode(position: position, content: .sequence(values))
        case .mapping(let mapping):
            guard isUntagged(mapping.tag, at: position, into: &problems) else { return refused }
            let entries = convert(mapping, depth: depth, into: &problems)
            return YAMLNode(position: position, content: .mapping(entries))
        case .alias:
            // Cannot occur in parsed text; Yams uses the case for trees built in code.
            return refused
        }
    }

    private mutating func convert(_ mapping: Node.Mapping, depth: Int, into problems: inout ProblemList) -> [YAMLNode
        .Entry]
    {
        var entries: [YAMLNode.Entry] = []
        var first: [String: Position] = [:]
        for (key, value) in mapping {
            let position = Self.position(of: key)
            let value = convert(value, depth: depth + 1, into: &problems)
            guard case .scalar(let scalar) = key else {
                problems.add(position, "a key must be a word, not a list or a map")
                continue
            }
            guard case .scalar(var name, _)? = convert(scalar, at: position, into: &problems)?.content else { continue }
            name = renamed[position] ?? name
            if let earlier = first[name] {
                problems.add(
                    position,
                    "duplicate key '\(Quantity.clipped(name))', given first at \(earlier.line):\(earlier.column); "
                        + "keep one of them")
            } else {
                first[name] = position
                entries.append(YAMLNode.Entry(key: name, position: position, value: value))
            }
        }
        return entries
    }

    private mutating func convert(
        _ scalar: Node.Scalar, at position: Position, into problems: inout ProblemList
    ) -> YAMLNode? {
        guard isUntagged(scalar.tag, at: position, into: &problems) else { return nil }
        let isPlain = scalar.style == .plain || scalar.style == .any
        let start = scalar.string.unicodeScalars.first
        if isPlain, start == Self.alias || start == Self.anchor {
            problems.refuse(position, Self.refusal(ofAlias: restored(scalar.string)))
            hasAliases = true
            return nil
        }
        return YAMLNode(position: position, content: .scalar(restored(scalar.string), isPlain: isPlain))
    }

    private func isUntagged(_ tag: Tag, at position: Position, into problems: inout ProblemList) -> Bool {
        // Yams tags quoted scalars itself, and keys when it compares them.
        if [Tag.Name.implicit, .nonSpecific, .str, .seq, .map].contains(where: { $0.rawValue == tag.rawValue }) {
            return true
        }
        problems.refuse(
            position, "tags such as '\(Quantity.clipped(restored(tag.rawValue)))' have no meaning here; remove it")
        return false
    }

    private func restored(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { $0 == Self.alias ? "*" : $0 == Self.anchor ? "&" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func position(of node: Node) -> Position {
        Position(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    // MARK: Errors of the parser

    private static func refusal(ofAlias text: some StringProtocol) -> String {
        let name = text.prefix { !" ,[]{}\n".contains($0) }
        return "anchors and aliases are not accepted, as they can form cycles and explode: '\(Quantity.clipped(name))' "
            + "(write the value out, or quote it if it is text)"
    }

    private func report(_ error: any Error, into problems: inout ProblemList) {
        switch error {
        case YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _):
            let position = Position(line: mark.line, column: mark.column)
            if let anchor = firstAnchor(upTo: position) {
                problems.add(anchor, Self.refusal(ofAlias: restored(rest(ofLineFrom: anchor))))
            } else if scalar(at: position) == "\t" {
                problems.add(position, "a tab where YAML wants spaces; indent with spaces")
            } else if problem.hasPrefix("Maximum nesting level") {
                problems.add(position, "nested deeper than any scenario; the deepest has 6 levels")
            } else {
                let from = context.map { " (\($0.text), from \($0.mark))" } ?? ""
                problems.add(position, "not valid YAML: \(problem)\(from)")
            }
        case YamlError.composer(_, let problem, let mark, _):
            let isSecond = problem.contains("another document")
            problems.add(
                Position(line: mark.line, column: mark.column),
                isSecond ? "a second document starts here; one file holds one scenario" : "not valid YAML: \(problem)")
        case YamlError.reader(let problem, _, _, _): problems.add(.start, "not readable as YAML: \(problem)")
        default: problems.add(.start, "not valid YAML: \(error)")
        }
    }

    private func rest(ofLineFrom position: Position) -> String {
        let start = lineStarts[position.line - 1] + position.column - 1
        return String(String.UnicodeScalarView(scalars[start...].prefix { $0 != "\n" && $0 != "\r" }))
    }

    private func scalar(at position: Position) -> Unicode.Scalar? {
        guard lineStarts.indices.contains(position.line - 1) else { return nil }
        let index = lineStarts[position.line - 1] + position.column - 1
        return scalars.indices.contains(index) ? scalars[index] : nil
    }

    /// Returns the first YAML anchor or alias outside comments, up to the line of `end`. As text, an anchor before a
    /// list or a map causes a syntax error after it, for which the anchor must be reported.
    private func firstAnchor(upTo end: Position) -> Position? {
        for (number, start) in lineStarts.enumerated().prefix(end.line) {
            var previous: Unicode.Scalar = " "
            var opensNode = true
            let next = number + 1 < lineStarts.count ? lineStarts[number + 1] : scalars.count
            for index in start..<next {
                let scalar = scalars[index]
                if scalar == "#", previous == " " { break }
                if opensNode, scalar == Self.alias || scalar == Self.anchor {
                    return Position(line: number + 1, column: index - start + 1)
                }
                if scalar != " " { opensNode = "[{,:-?".unicodeScalars.contains(scalar) }
                previous = scalar
            }
        }
        return nil
    }
}
