// Short runs of `make damage`. Its results are in `Docs/store-file.md`.
import Foundation
import StillingWellTestThreads
import Testing

@Suite("Damaged files", .serialized, .onThreads)
struct DamageTests {
    @Test("a wrong number of copies is refused")
    func refused() throws {
        let ran = try RanProgram("stillingwell-torture", ["damage", "--copies", "0"])
        #expect(ran.status == 64 && ran.errors.contains("--copies 1000"), "\(ran.errors)")
    }

    @Test("no damaged copy of a store crashes the process that opens it, or gives wrong results without an error")
    func copies() throws {
        let ran = try RanProgram("stillingwell-torture", ["damage", "--copies", "60", "--seed", "12"])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }
}
