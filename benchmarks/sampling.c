/*
 * The plainest program that reads what the agent samples: the files of every container, kept open, read at their beginning and turned into numbers. What Python costs beyond this is what
 * benchmarks/sampling.py measures.
 *
 * Takes one argument, how many passes to make at each request, and the files' paths on standard input: one container a line, paths apart by tabs, an empty line at the end. Then for each further line
 * it makes its passes and answers with the CPU time they took, in nanoseconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 8, LINE = 8192 };

struct counters {
    long long cpu, periods, throttled, working_set, stalled;
};

struct container {
    int files[MOST_FILES];
    struct counters seen;
};

static char text[4096];

static const char *content(int file) {
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = 0;
    return text;
}

static long long after(const char *where, const char *key) {
    const char *found = strstr(where, key);
    return found ? strtoll(found + strlen(key), NULL, 10) : -1;
}

static void sample_v1(struct container *container) {
    struct counters *seen = &container->seen;
    const char *stat = content(container->files[0]);
    seen->periods = after(stat, "nr_periods ");
    seen->throttled = after(stat, "nr_throttled ");
    seen->cpu = strtoll(content(container->files[1]), NULL, 10);
    long long memory = strtoll(content(container->files[2]), NULL, 10);
    long long droppable = after(content(container->files[3]), "total_inactive_file ");
    seen->working_set = memory > droppable ? memory - droppable : 0;
    seen->stalled = after(content(container->files[4]), "total=");
}

static void sample_v2(struct container *container) {
    struct counters *seen = &container->seen;
    const char *stat = content(container->files[0]);
    seen->cpu = after(stat, "usage_usec ") * 1000;
    seen->periods = after(stat, "nr_periods ");
    seen->throttled = after(stat, "nr_throttled ");
    long long memory = strtoll(content(container->files[1]), NULL, 10);
    long long droppable = after(content(container->files[2]), "\ninactive_file ");
    seen->working_set = memory > droppable ? memory - droppable : 0;
    seen->stalled = after(content(container->files[3]), "total=");
}

static long long cpu_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv) {
    static char line[LINE];
    struct container *containers = NULL;
    size_t count = 0;
    int files = 0, passes = argc > 1 ? atoi(argv[1]) : 1;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);

    while (fgets(line, sizeof line, stdin) && line[0] != '\n') {
        containers = realloc(containers, (count + 1) * sizeof *containers);
        files = 0;
        for (char *path = strtok(line, "\t\n"); path && files < MOST_FILES; path = strtok(NULL, "\t\n"), files++)
            if ((containers[count].files[files] = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
                perror(path);
                return 1;
            }
        count++;
    }
    while (fgets(line, sizeof line, stdin)) {
        long long start = cpu_time();
        for (int pass = 0; pass < passes; pass++)
            for (size_t i = 0; i < count; i++)
                files == 5 ? sample_v1(&containers[i]) : sample_v2(&containers[i]);
        printf("%lld\n", cpu_time() - start);
        fflush(stdout);
    }
    return 0;
}
