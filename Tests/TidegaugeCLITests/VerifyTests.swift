// Tests of the output and exit codes of `tidegauge verify` and `tidegauge recover`.
import Foundation
import StillingWell
import Testing

@Suite struct VerifyTests {
    final class Page: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored var text = ""
    }

    private func makeStore(in folder: Folder) throws {
        let store = try Store(.init(path: folder.path + "/store", models: [Page.self], durability: .relaxed))
        try store.write { connection in
            for id in 0..<3 {
                let page = Page()
                page.id = id
                page.text = "marker \(id)"
                try connection.add(page)
            }
        }
    }

    @Test func aWholeStoreIs0() throws {
        let folder = try Folder()
        try makeStore(in: folder)
        let ran = try Binary.tidegauge.run(["verify", "store"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(ran.output.contains("Page: 3 whole") && ran.output.hasSuffix("whole\n"))
    }

    @Test func bothProgramsHaveTheSameCommands() throws {
        let folder = try Folder()
        let helps = try [Binary.tidegauge, .peers].map { try $0.run(["--help"], in: folder).output }
        #expect(helps[0] == helps[1] && helps[0].contains("recover"), "\(helps)")
        try makeStore(in: folder)
        #expect(try Binary.peers.run(["verify", "store"], in: folder).status == 0)
    }

    @Test func aDamagedOneIs1AndItsWholeObjectsAreCarriedOver() throws {
        let folder = try Folder()
        try makeStore(in: folder)
        let url = URL(fileURLWithPath: folder.path + "/store/data.mdb")
        var data = try Data(contentsOf: url)
        while let range = data.range(of: Data("marker 1".utf8)) {
            data.replaceSubrange(range, with: Data("marxer 1".utf8))
        }
        try data.write(to: url)
        let ran = try Binary.tidegauge.run(["verify", "store"], in: folder)
        #expect(ran.status == 1, "\(ran.errors)")
        #expect(ran.output.contains("Page: 2 whole, 1 damaged"))
        #expect(ran.output.contains("damaged: a row of 'Page' is not what was stored"))
        let recovered = try Binary.tidegauge.run(["recover", "store", "new"], in: folder)
        #expect(recovered.status == 1, "\(recovered.errors)")
        let again = try Binary.tidegauge.run(["salvage", "store", "new"], in: folder)
        #expect(again.status == 64 && again.errors.hasPrefix("Error: new: a store exists there"), "\(again.errors)")
        let whole = try Binary.tidegauge.run(["verify", "new"], in: folder)
        #expect(whole.status == 0 && whole.output.contains("Page: 2 whole"), "\(whole.output)\(whole.errors)")
    }

    @Test func whereThereIsNoneItSaysSo() throws {
        let folder = try Folder()
        for arguments in [["verify", "nowhere"], ["recover", "nowhere", "new"], ["salvage", "nowhere", "new"]] {
            let ran = try Binary.tidegauge.run(arguments, in: folder)
            #expect(ran.status == 64)
            #expect(ran.errors.hasPrefix("Error: nowhere: there is no store; correct the path"), "\(ran.errors)")
        }
        #expect(!folder.exists("nowhere") && !folder.exists("new"))
    }

    @Test func anOpenStoreIsRefused() throws {
        let folder = try Folder()
        try makeStore(in: folder)
        let store = try Store(.init(path: folder.path + "/store", models: [Page.self], durability: .relaxed))
        let ran = try Binary.tidegauge.run(["verify", "store"], in: folder)
        #expect(ran.status == 64 && ran.errors.hasPrefix("Error: "), "\(ran.errors)")
        try store.close()
    }
}
