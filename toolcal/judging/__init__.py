"""The judge, off by default: a language model that reads conversations, beside the rule of `toolcal.writes`."""
