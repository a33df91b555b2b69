"""What users write, and the words they use: units, quantities, selectors, the kinds in all their dialects, and what is wrong with them."""
