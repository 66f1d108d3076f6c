"""The families of a wave of returning clients, as it was configured."""

from exporter.metrics.family import gauge

WAVE = (
    gauge("wave_clients", "", "Clients that may all come back at once, as configured; absent if none were."),
    gauge("wave_servers", "", "Servers that would be left to take them, as configured."),
    gauge(
        "wave_ceiling_handshakes_per_second",
        "mode",
        "Handshakes a second that one server sustains, as configured; absent for a mode that was not.",
        values=2,
    ),
    gauge("wave_window_seconds", "", "Time within which all of the clients come back, as configured."),
)
