"""A run as one page that plays without a server: the live view with its messages inside."""
