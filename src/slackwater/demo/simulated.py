"""stub"""


class Simulated:
    pass
