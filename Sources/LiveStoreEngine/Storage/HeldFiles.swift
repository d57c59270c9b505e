// The files that a process has open for a store, by device and inode. A path may lead to other files later: the store's folder was
// moved or removed, or a file of it replaced. What is written to the open files then is lost with the last process that has them.
import CPlatform
import Glibc
import Synchronization

/// The files of one open store. Any thread.
final class HeldFiles: Sendable {
    /// Comparison of the open files with those at their paths.
    enum State: Equatable {
        case present
        /// None of the open files is at its path.
        case gone
        /// Some are, and the file of this name is not.
        case mixed(String)
    }

    private struct File {
        let name: String
        let path: String
        let identity: FileIdentity
    }

    /// Commits between two looks at the paths, in a store that is never flushed.
    private static let lookEvery = 64

    let directory: String
    let data: FileIdentity
    /// The data file, open as long as the storage is there.
    private let descriptor: Int32
    private let files: [File]
    // The same for the system's calls. Constant, and freed with this object.
    nonisolated(unsafe) private let listed: UnsafeMutableBufferPointer<cp_file_at>
    /// Whether the last look found other files at the paths.
    private let wereReplaced = Atomic(false)
    private let unseen = Atomic(0)

    /// - Parameters:
    ///   - data: the open data file.
    ///   - hasRecord: whether flushes are recorded in `durable.mdb`.
    init(_ directory: String, data: Int32, _ page: SharedPage, hasRecord: Bool) throws(StoreError) {
        self.directory = directory
        descriptor = data
        self.data = try FileIdentity(of: data, directory + "/" + StoreFolder.data)
        var files = [
            File(name: StoreFolder.data, path: directory + "/" + StoreFolder.data, identity: self.data),
            File(name: StoreFolder.shared, path: directory + "/" + StoreFolder.shared, identity: try page.identity()),
        ]
        // The opening process holds the lock of the folder, so these are the files that were opened just now.
        for name in hasRecord ? [StoreFolder.lock, StoreFolder.durable] : [StoreFolder.lock] {
            let path = directory + "/" + name
            guard let identity = try FileIdentity.at(path) else {
                errno = ENOENT
                throw FolderLock.failure("look at", path)
            }
            files.append(File(name: name, path: path, identity: identity))
        }
        self.files = files
        listed = .allocate(capacity: files.count)
        for (index, file) in files.enumerated() {
            let (device, inode) = (file.identity.device, file.identity.inode)
            listed.initializeElement(at: index, to: cp_file_at(device: device, inode: inode, path: strdup(file.path)))
        }
    }

    deinit {
        for file in listed { free(UnsafeMutablePointer(mutating: file.path)) }
        listed.deallocate()
    }

    /// Looks at the paths. Takes a system call for each file. A process that has given up the right to look there learns from the open
    /// data file only whether that has a name.
    func state() throws(StoreError) -> State {
        var missing: [String] = []
        for file in files {
            let (identity, code) = FileIdentity.look(file.path)
            if code == EACCES { return note(hasName ? .present : .gone) }
            errno = code
            if code != 0 { throw FolderLock.failure("look at", file.path) }
            if identity != file.identity { missing.append(file.name) }
        }
        return note(missing.isEmpty ? .present : missing.count == files.count ? .gone : .mixed(missing[0]))
    }

    private func note(_ state: State) -> State {
        wereReplaced.store(state != .present, ordering: .relaxed)
        return state
    }

    private var hasName: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    /// Looks at the paths.
    /// - Throws: `replaced` if one of the files is not there any more.
    func check() throws(StoreError) {
        if cp_are_files_at(listed.baseAddress, listed.count) { return wereReplaced.store(false, ordering: .relaxed) }
        if try state() != .present { throw .replaced(path: directory) }
    }

    /// Looks at the paths if the last look found other files there, so that a folder that was moved back is used again.
    @inline(__always)
    func checkAgain() throws(StoreError) { if wereReplaced.load(ordering: .relaxed) { try check() } }

    /// Looks at the paths once in 64 calls. With the write lock.
    func checkSometimes() throws(StoreError) {
        let count = unseen.load(ordering: .relaxed) + 1
        unseen.store(count % Self.lookEvery, ordering: .relaxed)
        if count == Self.lookEvery { try check() }
    }

    /// Whether any data file is at the path.
    func isPathTaken() throws(StoreError) -> Bool { try FileIdentity.at(directory + "/" + StoreFolder.data) != nil }

    /// Whether one of the files is among others, under the same name.
    func overlap(_ others: [String: FileIdentity]) -> Bool { files.contains { others[$0.name] == $0.identity } }

    /// The store's files that a folder has.
    static func identities(in folder: String) throws(StoreError) -> [String: FileIdentity] {
        var found: [String: FileIdentity] = [:]
        for name in StoreFolder.all { found[name] = try FileIdentity.at("\(folder)/\(name)") }
        return found
    }
}
