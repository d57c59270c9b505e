// Names of functions as shown in tables. Versions of a function that the compiler makes share its name, so that a
// switch between versions does not look like one function replaced by another. Pure.
import StillingWellBasis

public enum FunctionName {
    /// Returns a name such as `TreeDifference.walk(_:_:)`: without modules, argument types, generic arguments, and
    /// marks of specialised, merged or inlined versions. Closures keep their context: `closure #1 in Store.write(_:)`.
    /// Symbols of other languages stay the same, except for a library version (`malloc@@GLIBC_2.2.5`).
    ///
    /// Functions that differ only in modules, argument types, constraints or files share a name.
    public static func short(_ symbol: String) -> String {
        guard let text = Demangling.text(of: symbol) else {
            let name = symbol.prefix { $0 != "@" }
            return name.isEmpty ? symbol : String(name)
        }
        let name = described(DemangledText.plain(text[...]))
        return name.isEmpty ? symbol : name
    }

    /// Prefixes of versions of a function and of its entry points, which are removed.
    private static let versions = [
        "merged ", "partial apply forwarder for ", "partial apply for ", "generic specialization of ",
        "generic not re-abstracted specialization of ", "generic partial specialization of ",
        "generic partial not re-abstracted specialization of ", "generic pre-specialization of ",
        "function signature specialization of ", "inlined generic function of ", "dispatch thunk of ", "@objc ",
        "@nonobjc ", "[inlined] ",
    ]

    /// Text that follows `(n` in the names of the parts of an asynchronous function.
    private static let parts = [") await resume partial function for ", ") suspend resume partial function for "]

    private static func described(_ text: Substring) -> String {
        if let version = versions.first(where: text.hasPrefix) { return described(text.dropFirst(version.count)) }
        if text.hasPrefix("("), let part = parts.first(where: { text.drop { $0 != ")" }.hasPrefix($0) }) {
            return described(text.drop { $0 != ")" }.dropFirst(part.count))
        }
        // There is one thunk for each pair of conventions, with very long types.
        if text.hasPrefix("reabstraction thunk") { return "reabstraction thunk" }
        if let (words, rest) = DemangledText.kind(text) { return words + subject(rest) }
        let nested = DemangledText.split(text, at: " in ")
        return nested.count == 1 ? entity(text) : nested.map(described).joined(separator: " in ")
    }

    /// Names the subject of `protocol witness for` and the like: `P.f(A) -> () in conformance T : P in M` becomes
    /// `P.f(_:) in T`.
    private static func subject(_ text: Substring) -> String {
        let conformance = DemangledText.split(text, at: " in conformance ")
        if conformance.count == 2 { return "\(described(conformance[0])) in \(entity(conformance[1]))" }
        return described(DemangledText.split(text, at: " and conformance ")[0])
    }

    /// Names one function, variable or type.
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
        // The arguments of a subscript are part of its accessor's type.
        let isSubscript = name.contains(".subscript.") && parts.count > 1
        let labels = (isSubscript ? DemangledText.call(parts[1]).arguments : arguments).map(DemangledText.labels)
        return (isStatic ? "static " : "") + name + (labels ?? "")
    }
}
