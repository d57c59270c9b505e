// The name of a thread.
import CStillingWellPlatform

/// The name of the calling thread, as the kernel has it: 15 bytes.
package enum ThreadName {
    package static var current: String {
        var bytes = [CChar](repeating: 0, count: 16)
        cp_get_thread_name(&bytes)
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
