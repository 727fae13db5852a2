"""What stores, batches and files of tables cost, in time and bytes."""
