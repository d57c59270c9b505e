// The symbol table of the program's own file, which the dynamic linker does not load. Names the frames of a stack. Read
// once, when it is first needed.
import Foundation
import StillingWellBasis

struct ELFSymbols: Sendable {
    private struct Symbol {
        var start: UInt64
        var size: UInt64
        var name: Int
    }

    private enum Layout {
        static let magic: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2]
        static let sectionTable = 40
        static let sectionSize = 58
        static let sectionCount = 60
        static let symbolTable: UInt32 = 2
        static let symbolBytes = 24
        static let function: UInt8 = 2
    }

    /// Symbols of the running program.
    static let ofThisProgram = ELFSymbols("/proc/self/exe")

    /// Content of the file, memory-mapped.
    private let bytes: Data
    private var symbols: [Symbol] = []
    private var strings = 0

    /// Reads the symbols of functions of a file. Has none if the file is not a 64-bit ELF file or has none.
    init(_ path: String) {
        bytes = (try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)) ?? Data()
        guard bytes.count > 64, bytes.starts(with: Layout.magic) else { return }
        let table = Int(read(UInt64.self, Layout.sectionTable))
        let size = Int(read(UInt16.self, Layout.sectionSize))
        for index in 0..<Int(read(UInt16.self, Layout.sectionCount)) {
            let section = table + index * size
            guard section + 64 <= bytes.count, read(UInt32.self, section + 4) == Layout.symbolTable else { continue }
            let link = table + Int(read(UInt32.self, section + 40)) * size
            strings = Int(read(UInt64.self, link + 24))
            take(from: Int(read(UInt64.self, section + 24)), count: Int(read(UInt64.self, section + 32)))
        }
        symbols.sort { $0.start < $1.start }
    }

    private mutating func take(from start: Int, count: Int) {
        guard start + count <= bytes.count else { return }
        for offset in stride(from: start, to: start + count - Layout.symbolBytes + 1, by: Layout.symbolBytes) {
            let value = read(UInt64.self, offset + 8)
            guard bytes[offset + 4] & 0xF == Layout.function, value != 0 else { continue }
            symbols.append(
                Symbol(start: value, size: read(UInt64.self, offset + 16), name: Int(read(UInt32.self, offset))))
        }
    }

    private func read<Value>(_: Value.Type, _ offset: Int) -> Value {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
    }

    /// Returns the function at an offset from the program's load address, or nil. O(log n).
    func name(at offset: UInt64) -> String? {
        let next = symbols.partitioningIndex { $0.start > offset }
        guard next > 0 else { return nil }
        let symbol = symbols[next - 1]
        guard offset < symbol.start + max(symbol.size, 1) else { return nil }
        let start = strings + symbol.name
        let end = bytes[start...].firstIndex(of: 0) ?? start
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }
}
