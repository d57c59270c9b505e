// What `make damage` takes and refuses. What it finds is in `Docs/store-file.md`.
import Foundation
import TestThreads
import Testing

@Suite("Damaged files", .serialized, .onThreads)
struct DamageTests {
    @Test("what is no number of copies is refused")
    func refused() throws {
        let ran = try RanProgram("livestore-damage", ["--copies", "0"])
        #expect(ran.status == 64 && ran.errors.contains("--copies 1000"), "\(ran.errors)")
    }
}
