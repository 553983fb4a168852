"""The whole app in Chromium: real pages, a real supervisor, real training."""
