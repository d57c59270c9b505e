// Programs of a process that forks with an open store, of one that may not start further threads, and of one that may
// not open further files.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSync

/// `fork` of the C library, whose header hides it from Swift.
@_silgen_name("fork")
private func forkProcess() -> pid_t

/// Writes and forks. The child opens the store again and writes, and the parent continues.
func useInChild(_ store: Store) throws {
    say("parent \(try store.write { try Batches.insert($0) })")
    let frozen = try store.read { try $0.objects(Half.self).freeze() }
    let child = forkProcess()
    if child == 0 {
        do {
            try useAsChild(store)
            _exit(0)
        } catch {
            say("child failed: \(error)")
            _exit(1)
        }
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    say("child ended \(status)")
    say("parent \(try store.write { try Batches.insert($0) })")
    say("parent's snapshot \(frozen.count / 2)")
    // An exclusive lock would be possible only if the child had released the parent's lock.
    let file = open(memoryFolder(store) + "/shared", O_RDWR)
    say("parent alone \(flock(file, LOCK_EX | LOCK_NB) == 0)")
    say("file below 64 MB \(store.fileBytes < 64 << 20)")
}

/// Opens a store with free address space for further maps above its own. The system uses the highest free addresses.
func openLow(_ configuration: Store.Configuration) throws -> Store {
    let bytes = 4 * configuration.mapBytes
    let room = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    defer { munmap(room, bytes) }
    return try Store(configuration)
}

private func useAsChild(_ inherited: Store) throws {
    do {
        _ = try inherited.read { $0.version }
        say("inherited read")
    } catch {
        say("\(error)".contains("fork") ? "inherited refused" : "\(error)")
    }
    do {
        let own = try Store(inherited.configuration)
        say("child \(try own.write { try Batches.insert($0) })")
        say("child sees \(try own.read { try Batches.value("batches", $0) })")
    }
    inherited.close()
}

/// Returns the folder of a store's files.
private func memoryFolder(_ store: Store) -> String {
    guard store.configuration.durability == .memory else { return store.configuration.path }
    // The process has the files open.
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let files = numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    let name = URL(fileURLWithPath: store.configuration.path).lastPathComponent
    let data = files.first { $0.contains(name) && $0.hasSuffix("/data.mdb") }
    return data.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? ""
}

/// Sets a limit so that the system starts no further thread for this process.
/// - Returns: the previous limit.
func limitProcesses() throws -> rlimit {
    // The limit does not apply to root.
    if geteuid() == 0, setuid(65_534) != 0 { refuse("cannot become another user") }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit)
    let before = limit
    limit.rlim_cur = 0
    guard setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit) == 0 else { refuse("no limit can be set") }
    return before
}

func allowProcesses(_ limit: rlimit) {
    var limit = limit
    setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit)
}

/// Connects and queues a write, first without the right to start the thread that each needs, and then with it. In
/// between it writes and synchronizes, which has to work without one.
func useWithoutThreads(_ store: Store) throws {
    let before = try limitProcesses()
    do {
        _ = try store.connect(on: .runLoop)
        say("connected")
    } catch {
        say("\(error)")
    }
    store.queueWrite({ try Batches.insert($0) }) { result in
        if case .failure(let error) = result { say("\(error)") }
    }
    say("wrote \(try store.write { try Batches.insert($0) })")
    // A process that was root has become another user, which cannot check the store's path. That is no error.
    try store.synchronize()
    allowProcesses(before)
    let connection = try store.connect(on: .runLoop)
    say("connected")
    let done = DispatchSemaphore(value: 0)
    store.queueWrite({ try Batches.insert($0) }) { result in
        if case .failure(let error) = result { say("\(error)") } else { say("wrote 2") }
        done.signal()
    }
    done.wait()
    withExtendedLifetime(connection) {}
}

/// Connects on new threads without a run loop, first while no further file can be opened, and then when it can.
func useWithoutDescriptors(_ store: Store) throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = 64
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { refuse("no limit can be set") }
    var files: [Int32] = []
    while case let file = open("/", O_RDONLY | O_CLOEXEC), file >= 0 { files.append(file) }
    connectOnThread(store)
    connectOnThread(store, onMain: true)
    do {
        _ = try RunLoopThread(starting: "feed")
        say("started")
    } catch {
        say("\(error)")
    }
    for file in files { close(file) }
    connectOnThread(store)
    say("wrote \(try store.write { try Batches.insert($0) })")
}

private func connectOnThread(_ store: Store, onMain: Bool = false) {
    TracedThread("observer") {
        do {
            let connection = try store.connect(on: onMain ? .main : .runLoop)
            say("connected at \(connection.version)")
        } catch {
            say("\(error)")
        }
    }.join()
}
