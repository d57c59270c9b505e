// Demangles Swift symbols with the runtime's demangler.
import Glibc

public enum Demangling {
    /// Returns `StillingWell.List.append(A) -> ()` for `$s12StillingWell4ListV6appendyyxF`. Returns nil for a symbol
    /// that is invalid, or begins with neither `$s` nor `_$s`. Any thread.
    public static func text(of symbol: String) -> String? {
        guard symbol.hasPrefix("$s") || symbol.hasPrefix("_$s"),
            let text = swiftDemangle(symbol, UInt(symbol.utf8.count), nil, nil, 0)
        else { return nil }
        defer { free(text) }
        let demangled = String(cString: text)
        // The demangler returns an invalid symbol unchanged.
        return demangled == symbol ? nil : demangled
    }
}

/// Demangler of the Swift runtime, which has no public declaration. The caller frees the returned text.
@_silgen_name("swift_demangle")
private func swiftDemangle(
    _ name: UnsafePointer<CChar>, _ length: UInt, _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
