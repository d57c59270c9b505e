// Whose monotonic clock a process reads: the same where all of this is. Values only.
import Foundation

/// Two processes of one name read one clock, as far as their kernels know: one that was resumed from an image of another's memory
/// has its boot id too, and another clock. Who relies on it asks the clocks as well.
public struct ClockName: Codable, Sendable, Equatable {
    /// Changes with every boot of a kernel.
    public var bootID: String
    /// Its time namespace, which may shift the clock; nil where the kernel knows of none.
    public var timeNamespace: String?
    /// Of a clock that is shown faster on purpose, in millionths; 0: as it is.
    public var fasterPPM: Int

    public init(bootID: String, timeNamespace: String?, fasterPPM: Int = 0) {
        (self.bootID, self.timeNamespace, self.fasterPPM) = (bootID, timeNamespace, fasterPPM)
    }

    /// Of this process.
    public static func current(fasterPPM: Int = 0) -> ClockName {
        ClockName(
            bootID: ProcFile.word("/proc/sys/kernel/random/boot_id") ?? "unknown",
            timeNamespace: try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/time"),
            fasterPPM: fasterPPM)
    }
}
