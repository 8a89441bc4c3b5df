"""How well the labels hold: a set of items that people or other models label, and what is compared with it."""
