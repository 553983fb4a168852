"""The live view: guarded routes, the binary wire format, the panels' words, and the component that shows them."""
