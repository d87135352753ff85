"""The only compiled code: small kernels on arrays, and the thread pool that runs them."""
