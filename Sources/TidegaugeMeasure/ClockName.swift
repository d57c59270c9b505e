// Identity of a process's monotonic clock, which is equal for all processes that share it.
import Foundation

/// Processes with equal names read one clock, as far as their kernels know. A machine resumed from an image of
/// another also has its boot ID but a different clock, so callers must also compare the clocks.
public struct ClockName: Codable, Sendable, Equatable {
    /// Changes with each boot of a kernel.
    public var bootID: String
    /// Time namespace, which can shift the clock; nil if unknown.
    public var timeNamespace: String?
    /// Artificial speed-up of the clock in ppm; 0: none.
    public var fasterPPM: Int

    public init(bootID: String, timeNamespace: String?, fasterPPM: Int = 0) {
        (self.bootID, self.timeNamespace, self.fasterPPM) = (bootID, timeNamespace, fasterPPM)
    }

    /// Name of this process's clock.
    public static func current(fasterPPM: Int = 0) -> ClockName {
        ClockName(
            bootID: ProcFile.word("/proc/sys/kernel/random/boot_id") ?? "unknown",
            timeNamespace: try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/time"),
            fasterPPM: fasterPPM)
    }
}
