// The stack of any thread of this process, taken by a signal that the thread answers wherever it stands. For reports of
// hangs: it allocates, and only one caller at a time may ask.
import CPlatform

public enum ThreadStack {
    private static let mutex = PlainMutex()
    private static let answerNs: Int64 = 100_000_000
    private static let most = 64

    /// The frames of a thread, innermost first, by symbol or by file and offset; empty where it does not answer.
    public static func frames(of tid: Int32) -> [String] {
        mutex.with {
            var addresses = [UnsafeMutableRawPointer?](repeating: nil, count: most)
            let count = cp_capture_stack(tid, &addresses, Int32(most), answerNs)
            // The handler itself and the kernel's return from it are no part of the story.
            return addresses.prefix(Int(count)).dropFirst(2).compactMap { $0.map(text) }
        }
    }

    private static func text(_ address: UnsafeMutableRawPointer) -> String {
        var file: UnsafePointer<CChar>?
        var offset: UInt64 = 0
        if let symbol = cp_symbol(address, &file, &offset) { return demangled(String(cString: symbol)) }
        let name = file.map { String(cString: $0).split(separator: "/").last.map(String.init) ?? "?" } ?? "?"
        return "\(name)+0x" + String(offset, radix: 16)
    }

    private static func demangled(_ symbol: String) -> String {
        guard symbol.hasPrefix("$s") || symbol.hasPrefix("_$s") else { return symbol }
        guard let text = swiftDemangle(symbol, UInt(symbol.utf8.count), nil, nil, 0) else { return symbol }
        defer { text.deallocate() }
        return String(cString: text)
    }
}

/// The runtime's own, which has no other name.
@_silgen_name("swift_demangle")
private func swiftDemangle(
    _ name: UnsafePointer<CChar>, _ length: UInt, _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
