"""Faults at length: what ends or damages processes, disks, clocks and folders; `make test-faults`."""
