// Where a store's file is mapped, and whether its pages are of the format that `MappedPage` reads. Found once by whoever asks first;
// both are one number each, for any thread.
import CLMDB
import Glibc
import Synchronization

/// Unchecked because of the environment's handle, which is constant.
final class PageMap: @unchecked Sendable {
    let environment: OpaquePointer
    private let known = Atomic(true)
    private let begin = Atomic<UInt>(0)

    init(_ environment: OpaquePointer) { self.environment = environment }

    /// False once the file was found to be of another format.
    var isKnown: Bool { known.load(ordering: .relaxed) }

    /// Where the file is mapped, given an address in one of its pages; nil where its format is not known. The first answer
    /// stays: the engine maps a file once.
    func address(holding address: UnsafeRawPointer, lastPage: Int) -> UnsafeRawPointer? {
        if let found = UnsafeRawPointer(bitPattern: begin.load(ordering: .relaxed)) { return found }
        let page = UnsafeRawPointer(bitPattern: UInt(bitPattern: address) & ~UInt(MappedPage.bytes - 1))
        guard let page, case let number = page.load(as: UInt64.self), number <= UInt64(lastPage),
            case let map = page - Int(number) * MappedPage.bytes,
            // Nothing may be mapped there, where the page does not say its own number.
            msync(UnsafeMutableRawPointer(mutating: map), MappedPage.bytes, MS_ASYNC) == 0, MappedPage.isFormat(map)
        else {
            known.store(false, ordering: .relaxed)
            return nil
        }
        begin.store(UInt(bitPattern: map), ordering: .relaxed)
        return map
    }
}
