// Stacks of any thread of this process, taken by a signal handler. For reports of hangs: it allocates, and serves one
// caller at a time.
import CStillingWellPlatform
import Glibc
import StillingWellBasis
import StillingWellSync

public enum ThreadStack {
    private static let turn = PlainMutex(())
    private static let answerNs: Int64 = 100_000_000
    private static let most = 64

    /// Returns the frames of a thread, innermost first, as symbol or as file and offset. Empty if the thread does not
    /// answer in 100 ms.
    public static func frames(of tid: Int32) -> [String] {
        turn.with { _ in
            var addresses = [UnsafeMutableRawPointer?](repeating: nil, count: most)
            let count = cp_capture_stack(tid, &addresses, Int32(most), answerNs)
            // Without the handler and the kernel's return from it.
            return addresses.prefix(Int(count)).dropFirst(2).compactMap { $0.map(text) }
        }
    }

    private static func text(_ address: UnsafeMutableRawPointer) -> String {
        var file: UnsafePointer<CChar>?
        var offset: UInt64 = 0
        if let symbol = cp_symbol(address, &file, &offset) { return demangled(String(cString: symbol)) }
        // A return address follows its call, which may be the last instruction of a function.
        if isProgram(file), let symbol = ELFSymbols.ofThisProgram.name(at: offset - 1) { return demangled(symbol) }
        let name = file.map { String(cString: $0).split(separator: "/").last.map(String.init) ?? "?" } ?? "?"
        return "\(name)+0x" + String(offset, radix: 16)
    }

    /// Returns whether a file is the program itself, by whatever name it was started.
    private static func isProgram(_ file: UnsafePointer<CChar>?) -> Bool {
        guard let file else { return false }
        var program = stat()
        var found = stat()
        guard stat("/proc/self/exe", &program) == 0 else { return false }
        // If the file was replaced, or started through /proc, the program is the one without ".so" in its name.
        if stat(file, &found) == 0, found.st_ino == program.st_ino, found.st_dev == program.st_dev { return true }
        return !String(cString: file).contains(".so")
    }

    private static func demangled(_ symbol: String) -> String { Demangling.text(of: symbol) ?? symbol }
}
