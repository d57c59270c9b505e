// The name of a function as a table shows it. What the compiler makes of one function is one name, so that a commit that
// only lets another version of it be called does not look like one function gone and another come. Pure.
import StillingWellBasis

public enum FunctionName {
    /// `TreeDifference.walk(_:_:)`: without modules, types of arguments and results, generic arguments, and without what
    /// was specialised, merged or split off. Closures say where they stand: `closure #1 in Store.write(_:)`. What is no
    /// symbol of Swift stays as it is, but for the version of a library (`malloc@@GLIBC_2.2.5`). O(n).
    ///
    /// Two functions of one type have two names, unless nothing but types, constraints or files tells them apart:
    /// overloads by type, and private functions of the same name in two files, are one.
    public static func short(_ symbol: String) -> String {
        guard let text = Demangling.text(of: symbol) else {
            let name = symbol.prefix { $0 != "@" }
            return name.isEmpty ? symbol : String(name)
        }
        let name = described(DemangledText.plain(text[...]))
        return name.isEmpty ? symbol : name
    }

    /// Versions of a function, and ways into it, that are taken for the function.
    private static let versions = [
        "merged ", "partial apply forwarder for ", "partial apply for ", "generic specialization of ",
        "generic not re-abstracted specialization of ", "generic partial specialization of ",
        "generic partial not re-abstracted specialization of ", "generic pre-specialization of ",
        "function signature specialization of ", "inlined generic function of ", "dispatch thunk of ", "@objc ",
        "@nonobjc ", "[inlined] ",
    ]

    /// A version named by a number: the rest of an asynchronous function after its nth suspension.
    private static let parts = [") await resume partial function for ", ") suspend resume partial function for "]

    private static func described(_ text: Substring) -> String {
        if let version = versions.first(where: text.hasPrefix) { return described(text.dropFirst(version.count)) }
        if text.hasPrefix("("), let part = parts.first(where: { text.drop { $0 != ")" }.hasPrefix($0) }) {
            return described(text.drop { $0 != ")" }.dropFirst(part.count))
        }
        // One for each pair of conventions; their types would fill a page.
        if text.hasPrefix("reabstraction thunk") { return "reabstraction thunk" }
        if let (words, rest) = DemangledText.kind(text) { return words + subject(rest) }
        let nested = DemangledText.split(text, at: " in ")
        return nested.count == 1 ? entity(text) : nested.map(described).joined(separator: " in ")
    }

    /// What `protocol witness for` and the like are of: `P.f(A) -> () in conformance T : P in M` is `P.f(_:) in T`.
    private static func subject(_ text: Substring) -> String {
        let conformance = DemangledText.split(text, at: " in conformance ")
        if conformance.count == 2 { return "\(described(conformance[0])) in \(entity(conformance[1]))" }
        return described(DemangledText.split(text, at: " and conformance ")[0])
    }

    /// One function, variable or type.
    private static func entity(_ text: Substring) -> String {
        var rest = text
        let isStatic = rest.hasPrefix("static ")
        if isStatic { rest = rest.dropFirst("static ".count) }
        if let closure = DemangledText.closure(rest) { return closure }
        let parts = DemangledText.split(rest, at: " : ")
        let (path, arguments) = DemangledText.call(parts[0])
        var name = DemangledText.withoutModule(path)
        for fixity in [" infix", " prefix", " postfix"] where name.hasSuffix(fixity) {
            name = name.dropLast(fixity.count)
        }
        // The arguments of a subscript stand in the type of its accessor.
        let isSubscript = name.contains(".subscript.") && parts.count > 1
        let labels = (isSubscript ? DemangledText.call(parts[1]).arguments : arguments).map(DemangledText.labels)
        return (isStatic ? "static " : "") + name + (labels ?? "")
    }
}
