// What the machine does to a trial while it is measured: steal, pressure, neighbours, late wakes.
import TidegaugeMeasure
import TidegaugeTrial

final class NoiseMeter: Companion {
    private let hiccup = HiccupProbe()
    private var startNs: Int64 = 0
    private var lengthNs: Int64 = 0
    private var pressure = PressureProbe.read()
    private var queued: RunQueueReading?
    private var contention: Contention?

    /// Before the window, so that its thread has its name when CPU clocks are first read.
    func warmUp(_ window: Window) { hiccup.start() }

    func begin(_ window: Window) {
        startNs = window.startNs
        pressure = PressureProbe.read()
        queued = CPUWindow.runQueue()
    }

    func loadEnded() {
        pressure = PressureProbe.read().since(pressure)
        contention = queued.flatMap { start in CPUWindow.runQueue().map { $0.since(start) } }
        lengthNs = MonotonicClock.nowNs() - startNs
    }

    /// After CPU clocks have been read: a thread that is gone has none to take off.
    func end(into findings: inout Findings) {
        findings.hiccups = hiccup.stop()
        findings.noise = NoiseAccount(pressure, findings.hiccups, contention: contention, lengthNs: lengthNs)
    }
}
