"""Mistakes of the person at the keyboard."""


class UserError(ValueError):
    """Something that the person at the keyboard can mend; the message says how."""
