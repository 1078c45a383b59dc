# Linux TCP between two network namespaces through a forwarder of two threads, which poll one queue on each side.
# limit: 300
set -euo pipefail
python3 "$(dirname "$0")/../../bench/tcp.py" --repetitions 2 --huge 2000000 --only 1
