"""What commands do besides looking into a store: bulk loads, calibration, differences between two texts."""
