"""The commands of `arboretum`, one file each."""
