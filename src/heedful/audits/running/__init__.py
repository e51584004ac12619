"""Running audits: one after the other, saved as they finish, returned as one result, and shown."""
