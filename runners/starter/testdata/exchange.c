// exchange starts a program many times, each time with another execve, while its words or its path change.
//   exchange HOW WHAT TRIES SEED
// HOW is who changes them: a thread of the caller (thread), another process by shared memory (shared), or a
// thread of the parent, whose memory the caller shares until it executes (vfork). WHAT is words, path or both.
// The program is ./good, with the words "x TRY good". What changes becomes evil.
// As victim, under the name of ./good or ./evil, it says which of them it is, and its words.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
	char path[8];             // "./good", its last four bytes at [2]: not aligned
	char word[8];             // "good"
	_Atomic uint32_t wait;    // how long each state lasts
	_Atomic uint32_t turns;   // how often it changed
};
static struct shared *at;
static int words, paths;
static const uint32_t good = 0x646f6f67, evil = 0x6c697665;

static void *flip(void *unused) {
	(void)unused;
	for (uint32_t n = 1;; n++) {
		uint32_t now = n & 1 ? evil : good;
		if (words) *(volatile uint32_t *)at->word = now;
		if (paths) *(volatile uint32_t *)(at->path + 2) = now; // x86 and arm64 store it in one, inside of 8 bytes
		atomic_fetch_add(&at->turns, 1);
		for (volatile uint32_t i = atomic_load(&at->wait); i > 0; i--) ;
	}
	return NULL;
}

// turning waits until the changes have begun.
static void turning(uint32_t since) {
	while (atomic_load(&at->turns) == since) sched_yield();
}

static uint32_t number(uint32_t *state) { // xorshift
	*state ^= *state << 13; *state ^= *state >> 17; *state ^= *state << 5;
	return *state;
}

static int victim(int argc, char **argv) {
	char self[256], said[600];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n < 4 || argc != 3) return 9;
	self[n] = 0;
	int len = snprintf(said, sizeof said, "%s %s %s %d\n", argv[1], argv[2], self + n - 4, getpid());
	int fd = open("started", O_WRONLY | O_APPEND | O_CLOEXEC);
	return write(fd, said, len) != len;
}

int main(int argc, char **argv) {
	if (strcmp(argv[0], "x") == 0) return victim(argc, argv);
	if (argc != 5) return 2;
	const char *how = argv[1];
	words = strcmp(argv[2], "path") != 0;
	paths = strcmp(argv[2], "words") != 0;
	int tries = atoi(argv[3]);
	uint32_t state = atoi(argv[4]) * 2654435761u | 1;
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *none[] = {NULL}, try[16], *list[] = {"x", try, at->word, NULL};
	strcpy(at->path, "./good");
	strcpy(at->word, "good");
	pid_t other = 0;
	pthread_t thread;
	if (strcmp(how, "shared") == 0) {
		if ((other = fork()) == 0) flip(NULL);
	} else if (strcmp(how, "vfork") == 0) {
		pthread_create(&thread, NULL, flip, NULL);
	}
	for (int i = 0; i < tries; i++) {
		snprintf(try, sizeof try, "%d", i);
		atomic_store(&at->wait, number(&state) % (1u << number(&state) % 20));
		pid_t child;
		if (strcmp(how, "vfork") == 0) {
			turning(atomic_load(&at->turns));
			if ((child = vfork()) == 0) {
				execve(at->path, list, none);
				_exit(126);
			}
		} else if ((child = fork()) == 0) {
			uint32_t since = atomic_load(&at->turns);
			if (strcmp(how, "thread") == 0) pthread_create(&thread, NULL, flip, NULL);
			turning(since);
			execve(at->path, list, none);
			_exit(126);
		}
		if (child < 0) return 3;
		while (waitpid(child, NULL, 0) != child) ;
	}
	if (other) kill(other, SIGKILL);
	return 0;
}
