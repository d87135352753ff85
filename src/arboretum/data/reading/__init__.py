"""Tables from files: the kind of a file, the format of a text file, and its columns."""
