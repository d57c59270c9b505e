// Files that a process has open for a store, by device and inode. Other files may later be at their paths: the store's
// folder was moved or removed, or a file replaced. Writes to removed files are lost when the last process closes them.
import CStillingWellPlatform
import Glibc
import Synchronization

/// The files of one open store. Any thread.
final class HeldFiles: Sendable {
    /// Comparison of the open files with those at their paths.
    enum State: Equatable {
        case present
        case gone
        /// Some files are at their paths, but the file with this name is not.
        case mixed(String)
    }

    /// Name of the file at each index. The record of flushes comes last, because a store without flushes has none.
    static let names = [StoreFolder.data, StoreFolder.lock, StoreFolder.shared, StoreFolder.durable]

    /// Writes between two checks of the paths, in a store without flushes.
    private static let lookEvery = 64

    let directory: String
    /// Descriptor of the data file, open as long as the storage exists.
    private let descriptor: Int32
    // Constant, and freed with this object.
    nonisolated(unsafe) private let listed: UnsafeMutableBufferPointer<cp_file_at>
    /// Whether the last check found a file missing or replaced.
    private let wereReplaced = Atomic(false)
    private let unseen = Atomic(0)

    /// - Parameters:
    ///   - data: the open data file.
    ///   - hasRecord: whether flushes are recorded in `durable.mdb`.
    init(_ directory: String, data: Int32, _ page: SharedPage, hasRecord: Bool) throws(StoreError) {
        self.directory = directory
        descriptor = data
        listed = .allocate(capacity: hasRecord ? Self.names.count : Self.names.count - 1)
        listed.initialize(repeating: cp_file_at())
        let descriptors = [data, -1, page.descriptor, -1]
        for index in listed.indices {
            let code = directory.withCString { folder in
                Self.names[index].withCString { cp_note_file(&listed[index], folder, $0, descriptors[index]) }
            }
            if code == 0 { continue }
            errno = code
            throw FolderLock.failure("look at", "\(directory)/\(Self.names[index])")
        }
    }

    deinit {
        for file in listed { free(UnsafeMutablePointer(mutating: file.path)) }
        listed.deallocate()
    }

    /// Identity of the file at an index of `names`.
    func identity(_ index: Int) -> FileIdentity {
        FileIdentity(device: listed[index].device, inode: listed[index].inode)
    }

    /// Checks the paths, with one system call per file. If the process has lost access to them, only checks whether the
    /// open data file still has a name.
    func state() throws(StoreError) -> State {
        var missing: [String] = []
        for index in listed.indices {
            let (found, code) = FileIdentity.look(listed[index].path)
            if code == EACCES { return note(hasName ? .present : .gone) }
            errno = code
            if code != 0 { throw FolderLock.failure("look at", String(cString: listed[index].path)) }
            if found != identity(index) { missing.append(Self.names[index]) }
        }
        return note(missing.isEmpty ? .present : missing.count == listed.count ? .gone : .mixed(missing[0]))
    }

    private func note(_ state: State) -> State {
        wereReplaced.store(state != .present, ordering: .relaxed)
        return state
    }

    private var hasName: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    /// Checks the paths.
    /// - Throws: `replaced` unless the state is `present`, and errors of `state`.
    func check() throws(StoreError) {
        if cp_are_files_at(listed.baseAddress, listed.count) { return wereReplaced.store(false, ordering: .relaxed) }
        if try state() != .present { throw .replaced(path: directory) }
    }

    /// Checks the paths if the last check found a change, so that a folder that was moved back is used again.
    @inline(__always)
    func checkAgain() throws(StoreError) { if wereReplaced.load(ordering: .relaxed) { try check() } }

    /// Checks the paths once in 64 calls. Requires the write lock.
    func checkSometimes() throws(StoreError) {
        let count = unseen.load(ordering: .relaxed) + 1
        unseen.store(count % Self.lookEvery, ordering: .relaxed)
        if count == Self.lookEvery { try check() }
    }

    /// Whether a data file is at the path.
    func isPathTaken() throws(StoreError) -> Bool { try FileIdentity.at(directory + "/" + StoreFolder.data) != nil }

    /// Whether one of the files has the same identity as the one at its index in `others`.
    func overlap(_ others: [FileIdentity?]) -> Bool { listed.indices.contains { others[$0] == identity($0) } }

    /// Identities of the store's files in a folder, at the indices of their names.
    static func identities(in folder: String) throws(StoreError) -> [FileIdentity?] {
        try names.map { (name) throws(StoreError) in try FileIdentity.at(folder, name) }
    }
}
