"""From the bytes of a file to records, whatever its format; what they mean is up to the other rooms."""
