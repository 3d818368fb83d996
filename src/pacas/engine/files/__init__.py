"""Relations in files and folders: which files count, what they are told by, whether they have changed."""
