"""What a run would still ask of its models, before anything is spent: calls, tokens, cost and time.

`remaining` says what is left and what journals tell of the calls; `sizes` guesses where there is no journal; `model`
puts a model's line together, `judge` that of the judge; `table` shows the lines; `inputs` reads the tables.
"""
