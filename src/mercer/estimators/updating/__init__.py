"""Machines that learn one more row, and forget one."""
