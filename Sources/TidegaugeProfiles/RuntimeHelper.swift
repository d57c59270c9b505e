// Functions that other functions use for memory, reference counting and the like. Their cost belongs to the function
// that uses them.

public enum RuntimeHelper {
    /// Returns whether a function (`FunctionName.short`) is a helper.
    public static func contains(_ name: String) -> Bool {
        exact.contains(name) || prefixes.contains { name.hasPrefix($0) }
            || [" value witness for ", "swift::"].contains { name.contains($0) }
    }

    private static let prefixes = [
        "swift_", "_swift_", "__swift_", "_dl_", "outlined ", "type metadata accessor for ",
        "lazy protocol witness table accessor for ", "reabstraction thunk", "__memcpy_", "__memmove_", "__memset_",
        "__memcmp_", "je_malloc", "je_free", "je_calloc", "je_realloc", "je_sdallocx",
    ]

    private static let exact: Set = [
        "malloc", "calloc", "realloc", "free", "aligned_alloc", "memalign", "posix_memalign", "malloc_usable_size",
        "_int_malloc", "_int_free", "_int_realloc", "_int_memalign", "malloc_consolidate", "unlink_chunk",
        "unlink_chunk.constprop.0", "unlink_chunk.isra.0", "sysmalloc", "systrim", "systrim.constprop.0",
        "tcache_init.part.0", "memcpy", "memmove", "memset", "memcmp", "bcmp", "__tls_get_addr", "do_lookup_x",
        "check_match", "operator new(unsigned long)", "operator delete(void*)", "operator delete(void*, unsigned long)",
    ]
}
