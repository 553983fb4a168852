"""The live view: guarded routes, the wire format, the panels' words, the component that shows them."""
