"""Action classes of emissions: cue phrases and the labellers that use them."""
