"""Was a write to the database proposed to the user with its details, and agreed to, before it was made?"""
