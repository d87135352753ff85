"""The columns of a table as kernels read them: presorted lists, codes, bins, words."""
