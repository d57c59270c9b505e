// Symbols of Swift as text, by the runtime's own demangler. Those of C++ are left to who recorded them: valgrind and the
// dynamic linker name theirs already.
import Glibc

public enum Demangling {
    /// `StillingWell.List.append(A) -> ()` for `$s12StillingWell4ListV6appendyyxF`; nil for what is no symbol of Swift. Any thread.
    public static func text(of symbol: String) -> String? {
        guard symbol.hasPrefix("$s") || symbol.hasPrefix("_$s"),
            let text = swiftDemangle(symbol, UInt(symbol.utf8.count), nil, nil, 0)
        else { return nil }
        defer { free(text) }
        let demangled = String(cString: text)
        // What only looks like a symbol comes back as it went in.
        return demangled == symbol ? nil : demangled
    }
}

/// The runtime's own, which has no other name. The text is the caller's to free.
@_silgen_name("swift_demangle")
private func swiftDemangle(
    _ name: UnsafePointer<CChar>, _ length: UInt, _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
