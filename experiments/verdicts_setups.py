"""Random comparisons, small enough to run hundreds of: the same number gives the same arguments."""

import random

# Cores, ports, Gbps of a port: `rxlab profile list`.
SERVERS = {"rxbisect-testbed": (16, 2, 100), "ddio-bench": (18, 1, 100), "corec-testbed": (8, 1, 40),
           "corec-testbed-x520": (8, 1, 10)}
INTERFACES = ("privring", "shring", "rxbisect", "dynamic", "corec", "ddring")
APPS = ("l3fwd", "lb", "nat", "nf", "kv", "ipsec")
WITH_CYCLES = ("l3fwd", "lb", "nat", "nf")
# Frames that a core carries, of an application in the middle, millions a second.
MPPS = 1.4
# Few placements, short trials, no search for best sizes: a second or two each.
SMALL = "--placements 2 --trial-ms 4 --resolution 2 --best none --limit-ms 30".split()


def sometimes(rng, part, *args):
    return [str(a) for a in args] if rng.random() < part else []


def workload(rng, app):
    """Sizes, flows and arrivals of generated traffic."""
    arrivals = rng.choice(["constant", "poisson", f"bursty:{rng.choice([8, 32, 64, 256])}"])
    if app == "kv":
        return f"kv:put={rng.choice([0, 5, 50, 100])},keys={rng.choice(['10k', '1M'])},arrivals={arrivals}"
    fixed = f"fixed:{rng.choice([60, 128, 300, 512, 900, 1280, 1500, rng.randint(60, 1500)])}"
    named = rng.choice(["imix", "empirical:websearch", "empirical:datamining", "empirical:fb_hadoop"])
    flows = rng.choice(["4", "16", "100", "1000", "100k", "1M", "10M"])
    skew = f",zipf={rng.choice([0.8, 1.1, 1.3])}" if rng.random() < 0.3 else ""
    return f"{rng.choice([fixed, fixed, named])},flows={flows}{skew},arrivals={arrivals}"


def rate(rng, ports, each, shares, able):
    """Gbps on the wire such that the busiest port stays within its line rate; mostly about what the cores are `able` to
    carry, since far above it all lose alike."""
    most = each * sum(shares) / max(shares) if shares else each * ports
    part = rng.choice([rng.uniform(0.02, 1), 0.98, 1])
    wanted = able * rng.uniform(0.2, 1.3) if rng.random() < 0.7 else most * part
    return f"{max(0.02 * most, min(most, wanted)):.2f}"


def frame_bytes(traffic):
    """Mean size of a workload's frames on the wire, roughly."""
    sizes = traffic.split(",")[0]
    return int(sizes[6:]) + 24 if sizes.startswith("fixed:") else 380 if sizes == "imix" else 800


def draw(rng):
    """One set-up; some that it draws do not go together, and the program refuses them."""
    server = rng.choice(list(SERVERS))
    cores, ports, each = SERVERS[server]
    ports = rng.randint(1, ports)
    cores = rng.randint(ports, min(8, cores))
    app = rng.choice(APPS)
    traffic = workload(rng, app)
    shares = rng.choice([(2, 1), (3, 1)]) if ports == 2 and rng.random() < 0.3 else None
    able = cores * MPPS * frame_bytes(traffic) * 8 / 1000
    args = ["--server", server, "--cores", str(cores), "--ports", str(ports), "--app", app,
            "--interfaces", ",".join(rng.sample(INTERFACES, rng.randint(2, 4))), "--workload", traffic,
            "--rate", rate(rng, ports, each, shares, able), "--ring", str(2 ** rng.randint(6, 11)),
            "--other-arrivals", str(rng.randint(1, 2))]
    if shares:
        args += ["--port-load", ":".join(map(str, shares))]
    if app in WITH_CYCLES:
        args += sometimes(rng, 0.25, "--app-cycles", rng.choice([200, 600, 1500, 4000]))
    args += sometimes(rng, 1 if app == "kv" else 0.15, "--steer", "port")
    args += sometimes(rng, 0.15, "--antagonist", rng.choice(["stream:4", "stream:8", "pagerank:4"]))
    args += sometimes(rng, 0.15, "--order", rng.choice(["strict", "any"]))
    args += sometimes(rng, 0.1, "--numa", "remote") + sometimes(rng, 0.1, "--ddio-ways", rng.choice([1, 4, 8]))
    return SMALL + args + sometimes(rng, 0.2, "--no-search")


def setups(n):
    """Set-ups of number `n`, one after the other: the next is for when the program refuses one."""
    rng = random.Random(n)
    while True:
        yield draw(rng)


def random_setup(n):
    """The first set-up of number `n`."""
    return next(setups(n))


def option(args, name):
    """The value of an option, or None."""
    return args[args.index(name) + 1] if name in args else None


def strict(args):
    """Whether the order of a flow counts: by default for all but key-value stores."""
    return (option(args, "--order") or ("any" if option(args, "--app") == "kv" else "strict")) == "strict"


def line_gbps(args):
    """Line rate of the ports in use; all of the default server's where the arguments name none."""
    _, ports, each = SERVERS[option(args, "--server") or "rxbisect-testbed"]
    return int(option(args, "--ports") or ports) * each
