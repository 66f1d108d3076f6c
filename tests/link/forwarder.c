/*
 * A link with a fixed delay between two network namespaces, and a log of every packet that crosses it.
 *
 *     forwarder DELAY_NANOSECONDS LOG_DESCRIPTOR LOG_RECORDS
 *
 * Makes two namespaces that nobody else has and a TUN device "link0" in each. Prints the numbers of its descriptors
 * of the two namespaces, then takes each packet out of one device and puts it into the other when the delay is over.
 * Ends when its standard input closes. The namespaces have no name, so they vanish with the last process in them.
 *
 * The log is a shared mapping: a counter of 8 bytes, then records that never change once the counter covers them.
 * All numbers are in the machine's byte order, all times are CLOCK_MONOTONIC in nanoseconds.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 1024         /* packets under way in one direction; more are dropped, as by any queue */
#define LARGEST 2048       /* bytes; the devices' MTU is 1500 */
#define SPIN_NS 200000     /* awake this long before a packet is due, since a timer may wake us that late */

struct record {
    uint64_t in_ns, out_ns;             /* taken out of the one device, put into the other */
    uint32_t seq, ack, payload;         /* payload in bytes */
    uint16_t source, target;            /* ports */
    uint8_t to_server, family, protocol, flags;
    uint32_t reserved;                  /* pads the record to 40 bytes */
};

struct log {
    uint64_t count;
    struct record records[];
};

struct packet {
    uint64_t in_ns;
    ssize_t length;
    uint8_t bytes[LARGEST];
};

struct way {
    int from, to;
    uint8_t to_server;
    unsigned head, tail;                /* next to send, next free; both only ever grow */
    struct packet slots[SLOTS];
};

static struct way ways[2];
static struct log *packet_log;
static uint64_t log_records;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Moves this process into a new namespace with a device of its own; returns the device, and the namespace. */
static int make_side(int *namespace)
{
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    int device;

    if (unshare(CLONE_NEWNET) < 0)
        die("unshare");
    if ((*namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) < 0)
        die("/proc/self/ns/net");
    if ((device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0)
        die("/dev/net/tun");
    strcpy(request.ifr_name, "link0");
    if (ioctl(device, TUNSETIFF, &request) < 0)
        die("TUNSETIFF");
    return device;
}

static void make_log(int file)
{
    size_t size = sizeof(struct log) + log_records * sizeof(struct record);

    if (ftruncate(file, (off_t)size) < 0)
        die("ftruncate");
    packet_log = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (packet_log == MAP_FAILED)
        die("mmap");
    close(file);
}

static uint32_t read32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return ntohl(value);
}

static void read_tcp(const uint8_t *tcp, const uint8_t *end, struct record *record)
{
    if (tcp + 20 > end)
        return;
    record->source = (uint16_t)(tcp[0] << 8 | tcp[1]);
    record->target = (uint16_t)(tcp[2] << 8 | tcp[3]);
    record->seq = read32(tcp + 4);
    record->ack = read32(tcp + 8);
    record->flags = tcp[13];
    if (tcp + 4 * (tcp[12] >> 4) <= end)
        record->payload = (uint32_t)(end - tcp - 4 * (tcp[12] >> 4));
}

static void note(const struct way *way, const struct packet *packet, uint64_t out_ns)
{
    const uint8_t *ip = packet->bytes, *end = ip + packet->length;
    struct record record = {.in_ns = packet->in_ns, .out_ns = out_ns, .to_server = way->to_server};

    if (packet_log->count >= log_records)
        return;
    record.family = ip[0] >> 4;
    if (record.family == 4 && packet->length >= 20) {
        record.protocol = ip[9];
        if (record.protocol == IPPROTO_TCP)
            read_tcp(ip + 4 * (ip[0] & 15), end, &record);
    } else if (record.family == 6 && packet->length >= 40) {
        record.protocol = ip[6];
        if (record.protocol == IPPROTO_TCP)
            read_tcp(ip + 40, end, &record);
    }
    packet_log->records[packet_log->count] = record;
    __atomic_store_n(&packet_log->count, packet_log->count + 1, __ATOMIC_RELEASE);
}

static void take(struct way *way)
{
    while (way->tail - way->head < SLOTS) {
        struct packet *packet = &way->slots[way->tail % SLOTS];

        packet->length = read(way->from, packet->bytes, LARGEST);
        if (packet->length <= 0)
            return;
        packet->in_ns = now_ns();
        way->tail++;
    }
}

/* Puts what is due into the other device; returns when the next is due, or UINT64_MAX. */
static uint64_t put(struct way *way, uint64_t delay_ns)
{
    while (way->head != way->tail) {
        struct packet *packet = &way->slots[way->head % SLOTS];
        uint64_t now = now_ns();

        if (now < packet->in_ns + delay_ns)
            return packet->in_ns + delay_ns;
        if (write(way->to, packet->bytes, (size_t)packet->length) == packet->length)
            note(way, packet, now);
        way->head++;
    }
    return UINT64_MAX;
}

/* Runs before all others: a packet that waits for a processor would be delayed by more than was asked for. */
static void hurry(void)
{
    struct sched_param first = {.sched_priority = 50};

    prctl(PR_SET_TIMERSLACK, 1);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    if (sched_setscheduler(0, SCHED_FIFO, &first) < 0)
        setpriority(PRIO_PROCESS, 0, -20);
}

static void forward(uint64_t delay_ns)
{
    struct pollfd sources[3] = {
        {.fd = ways[0].from, .events = POLLIN}, {.fd = ways[1].from, .events = POLLIN}, {.fd = 0, .events = POLLIN}};

    while (!sources[2].revents) {
        struct timespec wait, *until = NULL;
        uint64_t due, other, now;

        take(&ways[0]);
        take(&ways[1]);
        due = put(&ways[0], delay_ns);
        other = put(&ways[1], delay_ns);
        if (other < due)
            due = other;
        if (due != UINT64_MAX) {
            now = now_ns() + SPIN_NS;
            due = due > now ? due - now : 0;
            wait.tv_sec = (time_t)(due / 1000000000u);
            wait.tv_nsec = (long)(due % 1000000000u);
            until = &wait;
        }
        if (ppoll(sources, 3, until, NULL) < 0)
            die("ppoll");
    }
}

int main(int count, char **words)
{
    int client_side, server_side;

    if (count != 4)
        return 2;
    log_records = strtoull(words[3], NULL, 10);
    make_log(atoi(words[2]));
    ways[0].from = ways[1].to = make_side(&client_side);
    ways[0].to = ways[1].from = make_side(&server_side);
    ways[0].to_server = 1;
    hurry();
    printf("%d %d\n", client_side, server_side);
    fflush(stdout);
    forward(strtoull(words[1], NULL, 10));
    return 0;
}
