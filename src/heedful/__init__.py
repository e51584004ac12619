"""heedful: may this model's attention be shown as an explanation?"""

__version__ = "0.1.0"
