"""Tables from files: which kind a file is, how a text file is written, and its columns."""
