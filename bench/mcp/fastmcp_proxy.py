"""A FastMCP proxy over HTTP in front of a server over standard input and output.

Usage: fastmcp_proxy.py PORT PROGRAM [ARGUMENT]...
"""

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy


def main() -> None:
    """Serve until ended."""
    port, program, *arguments = sys.argv[1:]
    proxy = create_proxy(StdioTransport(program, arguments), name="proxy")
    proxy.run(transport="http", host="127.0.0.1", port=int(port), show_banner=False, log_level="ERROR")


if __name__ == "__main__":
    main()
