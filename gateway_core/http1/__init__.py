"""HTTP/1.1 without any input or output: requests, replies, and the bounds of both."""
