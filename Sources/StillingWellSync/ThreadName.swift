// The name of a thread.
import CStillingWellPlatform

/// Name of the calling thread in the kernel, at most 15 bytes.
package enum ThreadName {
    package static var current: String {
        var bytes = [CChar](repeating: 0, count: 16)
        cp_get_thread_name(&bytes)
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
