// The version that a foreign process keeps, in shared memory: a killed process cannot send a message.
import CStillingWellPlatform
import Foundation
import Glibc

final class SharedVersion: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Number of the descriptor in the foreign process.
    static let inherited: Int32 = 3

    let descriptor: Int32
    private let word: UnsafeMutablePointer<UInt64>

    /// Makes the memory for a process that is to be started, which cannot keep an older version than `version`.
    convenience init(_ version: Int) throws {
        // The file is unlinked at once, so it has no name.
        var template = Array("\(NSTemporaryDirectory())stillingwell-torture-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0, unlink(template) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            ftruncate(descriptor, off_t(MemoryLayout<UInt64>.size)) == 0
        else {
            throw Failure(description: "no memory to share with a foreign writer: \(String(cString: strerror(errno)))")
        }
        try self.init(descriptor: descriptor)
        self.version = version
    }

    /// Maps an inherited descriptor.
    init(descriptor: Int32) throws {
        let bytes = MemoryLayout<UInt64>.size
        guard let mapped = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), mapped != MAP_FAILED
        else {
            throw Failure(description: "cannot share memory with a foreign writer: \(String(cString: strerror(errno)))")
        }
        self.descriptor = descriptor
        word = mapped.bindMemory(to: UInt64.self, capacity: 1)
    }

    deinit {
        munmap(word, MemoryLayout<UInt64>.size)
        close(descriptor)
    }

    /// May be used on any thread.
    var version: Int {
        get { Int(cp_load64(word)) }
        set { cp_store64(word, UInt64(newValue)) }
    }
}
