// The stack of any thread of this process, taken by a signal that the thread answers wherever it stands. For reports of
// hangs: it allocates, and only one caller at a time may ask.
import CStillingWellPlatform
import Glibc
import StillingWellBasis
import StillingWellSync

public enum ThreadStack {
    private static let turn = PlainMutex(())
    private static let answerNs: Int64 = 100_000_000
    private static let most = 64

    /// The frames of a thread, innermost first, by symbol or by file and offset; empty where it does not answer.
    public static func frames(of tid: Int32) -> [String] {
        turn.with { _ in
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
        // A return address stands behind its call, which may be the last thing a function does.
        if isProgram(file), let symbol = ELFSymbols.ofThisProgram.name(at: offset - 1) { return demangled(symbol) }
        let name = file.map { String(cString: $0).split(separator: "/").last.map(String.init) ?? "?" } ?? "?"
        return "\(name)+0x" + String(offset, radix: 16)
    }

    /// The program itself, by whatever name it was started.
    private static func isProgram(_ file: UnsafePointer<CChar>?) -> Bool {
        guard let file else { return false }
        var program = stat()
        var found = stat()
        guard stat("/proc/self/exe", &program) == 0 else { return false }
        // A file that was replaced since, or was started through /proc, is still the one without ".so" in its name.
        if stat(file, &found) == 0, found.st_ino == program.st_ino, found.st_dev == program.st_dev { return true }
        return !String(cString: file).contains(".so")
    }

    private static func demangled(_ symbol: String) -> String { Demangling.text(of: symbol) ?? symbol }
}
