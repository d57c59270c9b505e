// Measures disturbances of a trial by the machine.
import TidegaugeMeasure
import TidegaugeTrial

final class NoiseMeter: Companion {
    private let hiccup = HiccupProbe()
    private var startNs: Int64 = 0
    private var lengthNs: Int64 = 0
    private var pressure = PressureProbe.read()
    private var queued: RunQueueReading?
    private var contention: Contention?

    /// Starts before the window, so that the thread has its name when CPU clocks are first read.
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

    /// Runs after CPU clocks have been read: the time of an ended thread could not be subtracted.
    func end(into findings: inout Findings) {
        findings.hiccups = hiccup.stop()
        findings.noise = NoiseAccount(pressure, findings.hiccups, contention: contention, lengthNs: lengthNs)
    }
}
