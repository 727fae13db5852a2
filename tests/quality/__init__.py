"""What the quality gate measures: labelled pairs of real pages, how a recipe is scored on them, and the floors it must not fall below."""
