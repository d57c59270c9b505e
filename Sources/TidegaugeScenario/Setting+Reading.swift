// Parses the value of a setting from text (a scalar or `--set`) or from a node. Strict; error messages are the end of
// a sentence that starts with the setting's name. Pure.
import TidegaugeSpec

extension Setting {
    /// - Parameter isPlain: whether it was unquoted. A quoted numeral is text, not a number.
    func value(from text: String, isPlain: Bool = true) throws(ValueFault) -> SettingValue {
        switch row.kind {
        case .word(let words):
            guard words.contains(text) else {
                if text.isEmpty { throw ValueFault("expects one of \(words.joined(separator: ", ")), found nothing") }
                let hint = Nearest.hint(for: text, among: words)
                throw ValueFault("has the unknown value '\(Quantity.clipped(text))' \(hint)")
            }
            return .word(text)
        case .integer(let range):
            try requirePlain(text, isPlain, wanted: "a whole number")
            let value = try Quantity.integer(text)
            try require(range, value, found: "\(value)") { "\($0)" }
            return .integer(value)
        case .share:
            try requirePlain(text, isPlain, wanted: "a number")
            let value = try Quantity.number(text)
            guard value > 0, value <= 1 else {
                throw ValueFault("must be greater than 0 and at most 1, found \(Quantity.clipped(text))")
            }
            return .share(value)
        case .durationNs(let range):
            let value = try Quantity.durationNs(text)
            try require(range, value, found: text) { Quantity.text(durationNs: $0) }
            return .durationNs(value)
        case .rateHz(let highest):
            let value = try Quantity.rateHz(text)
            guard value > 0, value <= highest else {
                throw ValueFault(
                    "must be greater than 0/s and at most \(Quantity.text(rateHz: highest)), found "
                        + "\(Quantity.clipped(text))")
            }
            return .rateHz(value)
        case .number(let range):
            try requirePlain(text, isPlain, wanted: "a number")
            let value = try Quantity.number(text)
            try require(range, value, found: text) { Quantity.text($0) }
            return .number(value)
        case .file:
            let isName = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
            guard !text.isEmpty, isName, !text.hasPrefix(".") else {
                throw ValueFault(
                    "expects the name of a file beside the scenario (letters, digits, '-', '_', '.'), found "
                        + "'\(Quantity.clipped(text))'")
            }
            return .file(text)
        case .url: return .url(try Self.url(from: text))
        case .condition: return .condition(text == Self.noCondition ? text : try ConditionSpec(text).text)
        case .changes: return .changes(try Self.changes(from: text))
        }
    }

    /// Parses a setting's value from a node.
    func value(from node: YAMLNode) throws(ValueFault) -> SettingValue {
        switch (node.content, row.kind) {
        case (.scalar(let text, let isPlain), _): return try value(from: text, isPlain: isPlain)
        case (.sequence(let nodes), .changes): return .changes(try Self.changes(fromList: nodes))
        case (.mapping(let entries), .changes): return .changes(try Self.changes(fromMap: entries))
        case (.sequence, _): throw ValueFault("expects one value, found a list (only 'sweep' takes lists)")
        case (.mapping, _): throw ValueFault("expects one value, found a map")
        case (.refused, _): throw ValueFault("cannot be read")
        }
    }

    private func require<Bound>(
        _ range: ClosedRange<Bound>, _ value: Bound, found: String, _ text: (Bound) -> String
    ) throws(ValueFault) {
        if range.contains(value) { return }
        let bounds = "from \(text(range.lowerBound)) to \(text(range.upperBound))"
        throw ValueFault("must be \(bounds), found \(Quantity.clipped(found))")
    }

    private func requirePlain(_ text: String, _ isPlain: Bool, wanted: String) throws(ValueFault) {
        guard isPlain else {
            throw ValueFault("expects \(wanted), found the text \"\(Quantity.clipped(text))\" (remove the quotes)")
        }
    }
}

// MARK: Addresses

extension Setting {
    private static let protocols = ["postgres://", "postgresql://"]

    /// Parses a server URL. Rejects passwords, because settings appear in reports; error messages never repeat the
    /// input.
    private static func url(from text: String) throws(ValueFault) -> String {
        guard let start = protocols.first(where: text.hasPrefix), text.utf8.count <= 1_000,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw ValueFault("expects an address such as postgresql://user@host:5432/database")
        }
        let rest = text.dropFirst(start.count)
        let query = rest.firstIndex(of: "?").map { rest[rest.index(after: $0)...] } ?? ""
        let keys = query.split(separator: "&").map { $0.prefix { $0 != "=" }.lowercased() }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let parts = authority.split(separator: "@", omittingEmptySubsequences: false)
        let user = parts.dropLast()
        // An unescaped '/' or '?' in a password ends the authority early, so that the '@' comes after it.
        if user.contains(where: { $0.contains(":") }) || rest[authority.endIndex...].contains("@")
            || keys.contains(where: { $0.contains("pass") || $0.contains("%") })
        {
            throw ValueFault(
                "holds a password, which reports would show: leave it out, and give it by PGPASSWORD or by the file ~/.pgpass"
            )
        }
        guard (parts.last ?? "").split(separator: ",").allSatisfy(hasPort) else {
            throw ValueFault(
                "has a port that is not a number, which may be a part of a password (write postgresql://user@host:5432/database)"
            )
        }
        return text
    }

    /// Whether a host has no port or one of at most five digits. IPv6 addresses are in brackets.
    private static func hasPort(_ host: Substring) -> Bool {
        let behind = host.hasPrefix("[") ? host[(host.lastIndex(of: "]") ?? host.startIndex)...].dropFirst() : host
        guard let colon = behind.firstIndex(of: ":") else { return true }
        let port = behind[behind.index(after: colon)...]
        return port.allSatisfy { $0.isASCII && $0.isNumber } && port.count <= 5
    }
}

// MARK: Kinds of change

extension Setting {
    private static let changeKinds = WritersSpec.ChangeKind.allCases.map(\.rawValue)

    /// Parses `touch`, or weights in canonical form: `touch:0.2+update-score:0.8`.
    private static func changes(from text: String) throws(ValueFault) -> [String: Double] {
        guard text.contains(":") else { return [try changeKind(text): 1] }
        var weights: [String: Double] = [:]
        for part in text.split(separator: "+", omittingEmptySubsequences: false) {
            let sides = part.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2 else { throw ValueFault("has no weight in '\(Quantity.clipped(part))'") }
            let kind = try changeKind(String(sides[0]))
            guard weights.updateValue(try weight(String(sides[1])), forKey: kind) == nil else {
                throw ValueFault("names '\(kind)' twice")
            }
        }
        return normalised(weights)
    }

    /// Parses equal shares: `[touch, { update: score }]`.
    private static func changes(fromList nodes: [YAMLNode]) throws(ValueFault) -> [String: Double] {
        if nodes.isEmpty { throw ValueFault("names no change; one of \(changeKinds.joined(separator: ", "))") }
        var weights: [String: Double] = [:]
        for node in nodes {
            let kind: String
            switch node.content {
            case .scalar(let text, _): kind = try changeKind(text, at: node.position)
            case .mapping(let entries) where entries.count == 1 && entries[0].key == "update":
                try requireScore(entries[0].value)
                kind = WritersSpec.ChangeKind.updateScore.rawValue
            case .mapping, .sequence, .refused:
                throw ValueFault(
                    "expects a kind of change, found \(node.description); weights go into one map", at: node.position)
            }
            guard weights.updateValue(1, forKey: kind) == nil else {
                throw ValueFault("names '\(kind)' twice", at: node.position)
            }
        }
        return normalised(weights)
    }

    /// Parses `{ update: score }`, or weights: `{ update-score: 0.8, touch: 0.2 }`.
    private static func changes(fromMap entries: [YAMLNode.Entry]) throws(ValueFault) -> [String: Double] {
        if entries.isEmpty { throw ValueFault("names no change; one of \(changeKinds.joined(separator: ", "))") }
        if entries.count == 1, entries[0].key == "update" {
            try requireScore(entries[0].value)
            return [WritersSpec.ChangeKind.updateScore.rawValue: 1]
        }
        var weights: [String: Double] = [:]
        for entry in entries {
            let kind = try changeKind(entry.key, at: entry.position)
            guard case .scalar(let text, isPlain: true) = entry.value.content else {
                throw ValueFault(
                    "expects a weight such as 0.8, found \(entry.value.description)", at: entry.value.position)
            }
            weights[kind] = try weight(text, at: entry.value.position)
        }
        return normalised(weights)
    }

    private static func requireScore(_ node: YAMLNode) throws(ValueFault) {
        if case .scalar("score", _) = node.content { return }
        throw ValueFault(
            "can update the score alone, found \(node.description) (write 'update: score')", at: node.position)
    }

    private static func changeKind(_ text: String, at position: Position? = nil) throws(ValueFault) -> String {
        if changeKinds.contains(text) { return text }
        let hint = Nearest.hint(for: text, among: changeKinds)
        throw ValueFault("has the unknown change '\(Quantity.clipped(text))' \(hint)", at: position)
    }

    private static func weight(_ text: String, at position: Position? = nil) throws(ValueFault) -> Double {
        do throws(ValueFault) {
            let value = try Quantity.number(text)
            if value > 0, value <= 1e6 { return value }
            throw ValueFault("must weigh more than 0 and at most 1000000, found \(Quantity.clipped(text))")
        } catch {
            throw ValueFault(error.message, at: position)
        }
    }

    /// Drops the weight of a single kind, so that `touch` and `{ touch: 3 }` are the same sweep point.
    private static func normalised(_ weights: [String: Double]) -> [String: Double] {
        weights.count == 1 ? weights.mapValues { _ in 1 } : weights
    }
}
