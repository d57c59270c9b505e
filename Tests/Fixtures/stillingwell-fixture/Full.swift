// Programs of a process that runs out of disk space. It has a limit on the file size, or a small file system that no
// other process sees and that ends with it.
import Foundation
import StillingWell
import StillingWellFixtures

/// `unshare` of the C library, whose header hides it from Swift.
@_silgen_name("unshare")
private func unshare(_ flags: Int32) -> Int32

/// Limits the size of files that this process may write, which simulates a full file system.
func limitFiles(_ bytes: UInt) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    limit.rlim_cur = min(bytes, limit.rlim_max)
    guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { refuse("no limit can be set") }
}

/// Mounts an in-memory file system of this size at `path`, for this process only. If that is not allowed, prints
/// `unavailable` and exits.
func mountSmall(_ path: String, kilobytes: Int) {
    let (newNamespace, newUser): (Int32, Int32) = (0x2_0000, 0x1000_0000)
    let (user, group) = (geteuid(), getegid())
    if unshare(newNamespace) != 0 {
        guard unshare(newNamespace | newUser) == 0 else { leave() }
        for (file, text) in [("setgroups", "deny"), ("uid_map", "0 \(user) 1"), ("gid_map", "0 \(group) 1")] {
            guard (try? text.write(toFile: "/proc/self/\(file)", atomically: false, encoding: .utf8)) != nil else {
                leave()
            }
        }
    }
    // Mounts must not be visible outside of this process.
    guard mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0 else { leave() }
    guard mount("stillingwell", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else { leave() }
}

func enlarge(_ path: String, kilobytes: Int) {
    guard mount("stillingwell", path, "tmpfs", UInt(MS_REMOUNT), "size=\(kilobytes)k") == 0 else {
        refuse("the file system cannot be enlarged")
    }
}

private func leave() -> Never {
    say("unavailable")
    exit(0)
}

/// Inserts batches until there is no room, prints which rows the store has, and continues after more room was made.
func fill(_ store: Store, makeRoom: () -> Void) throws {
    do {
        while true {
            let count = try store.write { connection in
                for _ in 0..<199 { try Batches.insert(connection) }
                return try Batches.insert(connection)
            }
            say("\(count)")
        }
    } catch {
        say("error \(error)")
    }
    say("left \(try store.read { try Batches.value("batches", $0) })")
    say(try store.read { try Batches.violation(from: 0, $0) } ?? "whole")
    makeRoom()
    say("then \(try store.write { try Batches.insert($0) })")
    say(try store.read { try Batches.violation(from: 0, $0) } ?? "whole")
}
