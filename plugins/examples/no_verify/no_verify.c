// A rule plugin in C, without a C library: it asks before a command is told to skip its hooks
// (--no-verify). It walks the input once, looks at commands[i].argv[n] and at nothing else.
//
//   clang --target=wasm32 -O2 -ffreestanding -fno-builtin -nostdlib -Wl,--no-entry -o no_verify.wasm no_verify.c

#include <stdint.h>

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#else
#define EXPORT(name) // compiled for this machine, for a test
#endif

enum { INPUT_SIZE = 1 << 20, OUTPUT_SIZE = 60 * 1024, MAX_FINDINGS = 100 };

static char input[INPUT_SIZE];
static char output[OUTPUT_SIZE];
static uint32_t used; // of output

EXPORT(sallyport_interface) uint32_t speaks(void) { return 1; }

// The memory is put back after every call, so one buffer does for all. No room is a fault.
EXPORT(sallyport_alloc) void *make_room(uint32_t size) { return size <= INPUT_SIZE ? input : 0; }

static void put(const char *text) {
	while (*text && used < OUTPUT_SIZE)
		output[used++] = *text++;
}

static void put_number(uint32_t n) {
	char digits[11];
	int at = 10;
	digits[at] = 0;
	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	put(digits + at);
}

static int same(const char *at, uint32_t size, const char *text) {
	for (uint32_t i = 0; i < size; i++)
		if (at[i] != text[i])
			return 0;
	return !text[size];
}

static void find(uint32_t command, uint32_t *found) {
	if (++*found > MAX_FINDINGS)
		return;
	put(*found > 1 ? "," : "");
	put("{\"rule\":\"plugin/no_verify/hooks_skipped\",\"effect\":\"ask\",\"severity\":\"medium\","
	    "\"title\":\"Hooks are skipped\",\"remediation\":\"Run it without --no-verify and mend what the hooks find.\",\"command\":");
	put_number(command);
	put("}");
}

// The places that matter: key of the document, key of a command, and how deep we are in it.
enum { IN_DOCUMENT = 1, IN_COMMANDS = 2, IN_COMMAND = 3, IN_ARGV = 4 };

static void judge(const char *json, uint32_t size) {
	uint32_t depth = 0, command = 0, seen = 0, found = 0;
	int commands = 0, argv = 0; // the last keys were these
	for (uint32_t i = 0; i < size; i++) {
		char c = json[i];
		if (c == '{' || c == '[') {
			if (++depth == IN_COMMAND && commands)
				command = seen++;
		} else if (c == '}' || c == ']') {
			depth--;
		} else if (c == '"') {
			uint32_t start = ++i;
			while (i < size && json[i] != '"')
				i += json[i] == '\\' ? 2 : 1;
			// The word needs no escapes, and sallyport writes none that are not needed.
			uint32_t length = i - start;
			int key = i + 1 < size && json[i + 1] == ':';
			if (key && depth == IN_DOCUMENT)
				commands = same(json + start, length, "commands");
			else if (key && depth == IN_COMMAND)
				argv = same(json + start, length, "argv");
			else if (depth == IN_ARGV && commands && argv && same(json + start, length, "--no-verify"))
				find(command, &found);
		}
	}
}

EXPORT(sallyport_evaluate) uint64_t evaluate(char *at, uint32_t size) {
	used = 0;
	put("{\"findings\":[");
	judge(at, size);
	put("]}");
	return (uint64_t)(uintptr_t)output << 32 | used;
}
