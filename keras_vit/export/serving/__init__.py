"""The artefact that TF Serving loads: its signatures, the files around them, and their check."""
