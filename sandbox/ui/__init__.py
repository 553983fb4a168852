"""Floor 7: the widgets and texts of the pages; nothing here needs torch."""
