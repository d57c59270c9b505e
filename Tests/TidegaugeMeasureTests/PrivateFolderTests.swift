// Tests of folders that no other user can name, enter or replace, and of their remains after a kill.
import Foundation
import Testing

@testable import TidegaugeDriver

@Suite struct PrivateFolderTests {
    /// A folder of the test.
    private let place: PrivateFolder

    init() throws { place = try PrivateFolder() }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    private func exists(_ path: String) -> Bool { mode(path) != nil }

    private func leave(_ name: String, mode: mode_t = 0o700) throws -> String {
        let path = "\(place.path)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try Data("kept?".utf8).write(to: URL(fileURLWithPath: "\(path)/file"))
        chmod(path, mode)
        return path
    }

    @Test func onlyItsUserMayEnterAndNobodyCanGuessItsName() throws {
        let folders = try (0..<4).map { _ in try PrivateFolder(in: place.path) }
        #expect(Set(folders.map(\.path)).count == 4)
        #expect(Set(folders.map(\.path.utf8.count)).count == 1, "one length")
        for folder in folders {
            #expect(mode(folder.path) == 0o700)
            #expect(folder.path.hasPrefix(place.path + "/"))
        }
    }

    @Test func itIsGoneWhenItIsRemovedOrItsOwnerIs() throws {
        var folder: PrivateFolder? = try PrivateFolder(in: place.path)
        let path = try #require(folder?.path)
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(path)/file"))
        folder?.remove()
        #expect(!exists(path))
        // The path may now belong to another user.
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        folder?.remove()
        folder = nil
        #expect(exists(path))
        let second = try PrivateFolder(in: place.path).path
        #expect(!exists(second))
    }

    @Test func whatAKilledProcessLeftIsSweptAndWhatALivingOneHoldsIsNot() throws {
        let living = try PrivateFolder(in: place.path)
        let left = try leave("tidegauge-aaaaaa")
        PrivateFolder.sweep(place.path)
        #expect(!exists(left))
        #expect(exists(living.path))
    }

    @Test func theFirstFolderInAPlaceSweepsIt() throws {
        let left = try leave("tidegauge-bbbbbb")
        let folder = try PrivateFolder(in: place.path)
        #expect(!exists(left))
        #expect(exists(folder.path))
    }

    @Test func whatIsNotClearlyOursIsLeftAlone() throws {
        let victim = try leave("victim")
        let others = [try leave("tidegauge-open00", mode: 0o755), try leave("another-tool")]
        let link = "\(place.path)/tidegauge-link00"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
        try Data().write(to: URL(fileURLWithPath: "\(place.path)/tidegauge-file00"))
        var foreign: [String] = []
        if geteuid() == 0 {
            foreign = [try leave("tidegauge-user00")]
            chown(foreign[0], 12_345, 12_345)
        }
        PrivateFolder.sweep(place.path)
        for path in others + foreign + [victim] { #expect(exists("\(path)/file"), "\(path)") }
        #expect(exists(link) && exists("\(place.path)/tidegauge-file00"))
    }

    @Test func whereNoneCanBeMadeThePlaceIsNamed() {
        let error = #expect(throws: PrivateFolder.Failure.self) { try PrivateFolder(in: "/proc/no-such-place") }
        #expect(error?.description.hasPrefix("/proc/no-such-place: cannot make a folder in it") == true)
    }
}

/// Temporary folders must be made by `PrivateFolder`. In a place that other users can write to, they could take a
/// chosen name first.
@Suite struct SharedPlaceTests {
    private static let words = ["NSTemporaryDirectory", "temporaryDirectory", "\"/tmp", "/dev/shm", "TMPDIR"]
    /// The exceptions: `PrivateFolder` itself, and the store, which manages its own folders.
    private static let allowed = [
        "Sources/TidegaugeDriver/PrivateFolder.swift", "Sources/StillingWell/",
    ]

    @Test func nobodyElseNamesOne() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
            .standardizedFileURL
        var files: [String] = []
        for folder in ["Sources", "Tools"] {
            let below = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
            files += try #require(below).compactMap { $0 as? String }.map { "\(folder)/\($0)" }
        }
        files.removeAll { file in Self.allowed.contains { file.hasPrefix($0) } }
        #expect(files.count > 100)
        for file in files {
            let url = root.appendingPathComponent(file)
            guard let text = try? String(contentsOf: url, encoding: .utf8) else { continue }
            for word in Self.words { #expect(!text.contains(word), "\(file) names \(word)") }
        }
    }
}
