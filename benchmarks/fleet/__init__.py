"""Fleets: real crawls over one Redis, rounds of failures, and costs. Needs `redis-server`."""
