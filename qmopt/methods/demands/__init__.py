"""Many buyers with one demand each: compiled passes, and an interior point for the few at a kink.

``rows`` holds them and their exact dual, ``hull`` a buyer's exact answer to prices, ``newton`` the
interior point with its compiled ``kernels``, and ``path`` the rounds that put these together.
"""
