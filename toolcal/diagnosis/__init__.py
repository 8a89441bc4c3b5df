"""From labels and grades to rates: did the model choose the right kind of action, and did the case pass?"""
