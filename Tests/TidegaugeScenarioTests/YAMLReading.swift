// Resolution of plain scalars in the two versions of YAML in use: YAML 1.1 (PyYAML, Ruby, libyaml's bindings, older
// editor plugins) and YAML 1.2 with its core schema. Sources: the type repository of 1.1, and section 10.3.2 of 1.2.2.
// The reader of scenarios resolves nothing, so accepted texts must mean the same for readers that do.
import Foundation

enum YAMLReading: String, CaseIterable {
    case yaml11 = "YAML 1.1"
    case yaml12 = "YAML 1.2"

    enum Scalar: Equatable {
        case text(String)
        case number(Double)
        case truth(Bool)
        case nothing
        /// Anything else that is no text: a number such as `0x1f`, `1:30` or `.inf`, a date, `<<` or `=`.
        case other
    }

    func resolve(_ text: String, isPlain: Bool = true) -> Scalar {
        guard isPlain else { return .text(text) }
        if ["", "~", "null", "Null", "NULL"].contains(text) { return .nothing }
        let truths = "true|True|TRUE|false|False|FALSE"
        switch self {
        case .yaml12:
            if matches(text, truths) { return .truth(text.lowercased() == "true") }
            if matches(text, "[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?") {
                return Double(text).map { .number($0) } ?? .other
            }
            if matches(text, "0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)") { return .other }
        case .yaml11:
            let words = "y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF"
            if matches(text, truths + "|" + words) {
                return .truth(["y", "yes", "true", "on"].contains(text.lowercased()))
            }
            let decimal = "[-+]?(0|[1-9][0-9_]*)|[-+]?([0-9][0-9_]*)\\.[0-9_]*([eE][-+][0-9]+)?"
            if matches(text, decimal) {
                return Double(text.filter { $0 != "_" }).map { .number($0) } ?? .other
            }
            let others =
                "[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\\.[0-9_]*)?"
                + "|[-+]?\\.[0-9_]+|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)|<<|="
                + "|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \\t].*)?"
            if matches(text, others) { return .other }
        }
        return .text(text)
    }

    private func matches(_ text: String, _ pattern: String) -> Bool {
        text.range(of: "^(\(pattern))$", options: .regularExpression) != nil
    }
}
