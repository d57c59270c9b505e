// Identities of the files that all processes of a store have open, in their shared page. Written by the process that
// opens the store alone, before others are admitted.
import CStillingWellPlatform
import Glibc

extension SharedPage {
    /// The first two files of `HeldFiles`.
    private static let names = HeldFiles.names.prefix(2)

    private func words(_ index: Int) -> (device: UnsafeMutablePointer<UInt64>, inode: UnsafeMutablePointer<UInt64>) {
        let offset = Layout.files + 16 * index
        return (longWord(offset), longWord(offset + 8))
    }

    func note(_ files: HeldFiles) {
        for index in Self.names.indices {
            cp_store64(words(index).device, files.identity(index).device)
            cp_store64(words(index).inode, files.identity(index).inode)
        }
    }

    /// Throws `cannotOpen` for a file that other processes do not have open, or if a system call fails. Called before
    /// LMDB opens the files, which makes missing ones.
    func checkFiles(in directory: String) throws(StoreError) {
        for (index, name) in Self.names.enumerated() {
            let noted = FileIdentity(device: cp_load64(words(index).device), inode: cp_load64(words(index).inode))
            // The inode is 0 if no identity is stored: the first process was killed before.
            if noted.inode == 0 { continue }
            if try FileIdentity.at(directory, name) == noted { continue }
            throw .cannotOpen(
                path: directory,
                reason: """
                    \(name) was removed or replaced while \(holder.map { "process \($0)" } ?? "another process") has the store open; end \
                    that process, or have it close the store, and open it again
                    """)
        }
    }
}
