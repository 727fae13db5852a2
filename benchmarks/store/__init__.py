"""What the store costs, beside its peers and beside what LMDB alone costs."""
