"""Tables of data: readers of every format, behind `mercer.io.read_data` and `read_batches`."""
