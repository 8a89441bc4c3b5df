"""The judge: a language model that decides, off by default, what the rule of `toolcal.writes` decides."""
