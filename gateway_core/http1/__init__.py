"""HTTP/1.1 without any input or output, for both directions: what is served, and what is asked."""
