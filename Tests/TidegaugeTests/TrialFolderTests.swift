// Tests of the folder of a trial's store: its protection from other users.
import Foundation
import Testing
import TidegaugeSpec

@testable import TidegaugeRun

@Suite struct TrialFolderTests {
    @Test(arguments: ["memory", "relaxed"])
    func aStoreLiesWhereNobodyElseCanLookOrBeFirst(_ durability: String) throws {
        let results = NSTemporaryDirectory() + "trial-folder-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: results) }
        var spec = TrialSpec.tiny()
        spec.durability = durability
        let folders = try (1...2).map { try TrialFolder(in: results, number: $0, spec) }
        for folder in folders {
            let above = URL(fileURLWithPath: folder.store).deletingLastPathComponent().path
            let attributes = try FileManager.default.attributesOfItem(atPath: above)
            #expect(attributes[.posixPermissions] as? Int == 0o700)
            // An engine may lock its folder.
            let descriptor = open(folder.store, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(descriptor) }
            #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            #expect(!folder.store.hasPrefix("/dev/shm/tidegauge-\(getpid())-"), "it can be guessed: \(folder.store)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.store).isEmpty)
        }
        #expect(folders[0].store.utf8.count == folders[1].store.utf8.count)
        for folder in folders {
            folder.removeStore()
            #expect(!FileManager.default.fileExists(atPath: folder.store))
        }
    }
}
